//! Revoking signed tokens. A storage without revocations passes if it refuses to revoke.

use catalogue_core::Timestamp;
use catalogue_core::auth::TokenDigest;

use crate::Storage;
use crate::credential_lookup::is_revoked;
use crate::seed::{digest, id, instant, second, seed_accounts, time};

const DAY: i64 = 24 * 60 * 60;

/// Number of revocations: more than a call removes if it removes at most a hundred.
const MORE_THAN_REMOVED: usize = 150;

/// Revokes `tokens`. Returns `None` if the storage has no revocations, and so must refuse to revoke.
async fn revoke(storage: &impl Storage, tokens: &[TokenDigest], expires_at: Timestamp, at: Timestamp) -> Option<()> {
    let has_revocations = is_revoked(storage, &tokens[0]).await.is_some();
    let revoked = storage.revoke_tokens(tokens, expires_at, at).await;
    if has_revocations {
        revoked.expect("A signed token can be revoked, even if it is already revoked.");
    } else {
        assert!(revoked.is_err(), "A storage without revocations refuses to revoke.");
    }
    has_revocations.then_some(())
}

fn digests(name: &str, count: usize) -> Vec<TokenDigest> {
    (0..count).map(|number| digest(&format!("{name}-{number}"))).collect()
}

/// All tokens of a call are revoked, even if one of them is revoked already.
pub async fn all_tokens_of_call_are_revoked(storage: &impl Storage) {
    let tokens = digests("token", 4);
    for some in [&tokens[..1], &tokens[..2], &tokens[1..], &tokens[..]] {
        for expires_at in [second(600), Timestamp::MAX] {
            let Some(()) = revoke(storage, some, expires_at, instant(0)).await else { return };
            for token in some {
                assert_eq!(is_revoked(storage, token).await, Some(true), "Each token of a call is revoked.");
            }
        }
    }
    assert_eq!(is_revoked(storage, &digest("another")).await, Some(false), "No other token is revoked.");
}

/// A revocation is retained until a day after the token's expiry, as clocks differ, whatever else is revoked.
pub async fn revocation_is_retained_for_a_day_after_expiry(storage: &impl Storage) {
    let tokens = digests("token", 3);
    for (token, expires_at) in tokens.iter().zip([second(0), second(600), Timestamp::MAX]) {
        let Some(()) = revoke(storage, &[*token], expires_at, instant(-1)).await else { return };
    }
    let just_before = time(DAY * 1_000_000 - 1);
    for other in digests("other", 3) {
        revoke(storage, &[other], Timestamp::MAX, just_before).await;
    }
    for token in &tokens {
        let revoked = is_revoked(storage, token).await;
        assert_eq!(revoked, Some(true), "A revocation is retained for a day after the token's expiry.");
    }
}

/// Revocations of tokens that expired a day ago are removed by later calls, each of which removes more than it adds.
pub async fn later_revocations_remove_those_past_retention(storage: &impl Storage) {
    let (expired, unexpired) = (digests("over", MORE_THAN_REMOVED), digest("lasting"));
    let Some(()) = revoke(storage, &expired, second(0), instant(-1)).await else { return };
    revoke(storage, &[unexpired], second(1), instant(-1)).await;
    for other in digests("other", MORE_THAN_REMOVED / 2) {
        revoke(storage, &[other], Timestamp::MAX, second(DAY)).await;
    }
    for token in &expired {
        let revoked = is_revoked(storage, token).await;
        assert_eq!(revoked, Some(false), "Later revocations remove those past retention, more than they add.");
    }
    let revoked = is_revoked(storage, &unexpired).await;
    assert_eq!(revoked, Some(true), "Only revocations past retention are removed.");
}

/// A revocation does not refer to an account: it needs none, and removing an account does not remove it.
pub async fn removing_account_leaves_revocations(storage: &impl Storage) {
    let [before, between, after] = ["before", "between", "after"].map(digest);
    let Some(()) = revoke(storage, &[before], second(600), instant(0)).await else { return };
    seed_accounts(storage, &["a", "b"]).await;
    revoke(storage, &[between], second(600), instant(0)).await;
    for account in ["a", "b"] {
        storage.remove_account(&id(account)).await.expect("an account can be removed");
    }
    revoke(storage, &[after], second(600), instant(0)).await;
    for token in [before, between, after] {
        let revoked = is_revoked(storage, &token).await;
        assert_eq!(revoked, Some(true), "A token stays revoked whatever accounts exist.");
    }
}

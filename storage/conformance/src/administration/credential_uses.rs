//! Recording when credentials were last used.

use catalogue_core::Timestamp;
use catalogue_core::admin::{AdminStorage, CredentialUse, NewCredential};

use crate::Storage;
use crate::key_calls::{create, list, revoke};
use crate::seed::{api_key, course, id, oauth_token, seed, seed_accounts, time};

fn used(credential: &NewCredential, at: Timestamp) -> CredentialUse {
    let identity = &credential.record.identity;
    CredentialUse { account: identity.account.clone(), credential_id: identity.credential_id.clone(), at }
}

async fn record_uses(storage: &impl AdminStorage, uses: &[CredentialUse]) {
    storage.record_uses(uses).await.expect("Uses can be recorded, even of unknown credentials.");
}

/// Returns the last uses of an account's credentials, in the order of its list.
async fn last_uses(storage: &impl Storage, account: &str) -> Vec<Option<Timestamp>> {
    list(storage, &id(account))
        .await
        .expect("the account is known")
        .into_iter()
        .map(|record| record.last_used_at)
        .collect()
}

/// A use of an API key or OAuth token is recorded to the microsecond, and no other credential is changed.
pub async fn use_is_recorded_to_the_microsecond(storage: &impl Storage) {
    seed_accounts(storage, &["a", "b"]).await;
    let mut oauth = oauth_token("a", "token-2");
    oauth.record.created_at = time(1);
    let (key, of_b) = (api_key("a", "key_1", "token-1"), api_key("b", "key_3", "token-3"));
    for credential in [&key, &oauth, &of_b] {
        create(storage, credential).await;
    }
    record_uses(storage, &[]).await;
    assert_eq!(last_uses(storage, "a").await, [None, None], "An unused credential has no last use.");
    record_uses(storage, &[used(&key, time(123_457))]).await;
    assert_eq!(last_uses(storage, "a").await, [Some(time(123_457)), None], "A use is recorded to the microsecond.");
    record_uses(storage, &[used(&of_b, Timestamp::MIN), used(&oauth, Timestamp::MAX)]).await;
    let expected = [Some(time(123_457)), Some(Timestamp::MAX)];
    assert_eq!(last_uses(storage, "a").await, expected, "A use is recorded only for its own credential.");
    assert_eq!(last_uses(storage, "b").await, [Some(Timestamp::MIN)], "A use is recorded only for its own credential.");
}

/// The latest of several times is stored, within a call and across calls, even of a revoked credential: the use may have
/// preceded the revocation.
pub async fn latest_use_is_stored(storage: &impl Storage) {
    seed_accounts(storage, &["a"]).await;
    let key = api_key("a", "key_1", "token-1");
    create(storage, &key).await;
    for (times, expected) in [(&[5, 7, 6][..], 7), (&[6], 7), (&[7], 7), (&[9, 8], 9), (&[-1], 9), (&[8, 10], 10)] {
        let uses: Vec<_> = times.iter().map(|at| used(&key, time(*at))).collect();
        record_uses(storage, &uses).await;
        assert_eq!(last_uses(storage, "a").await, [Some(time(expected))], "The latest of several uses is stored.");
    }
    revoke(storage, &id("a"), "key_1", time(12)).await;
    record_uses(storage, &[used(&key, time(11))]).await;
    assert_eq!(last_uses(storage, "a").await, [Some(time(11))], "A use of a revoked credential is recorded too.");
}

/// Uses of unknown credentials are ignored; the other uses in the same call are recorded.
pub async fn use_of_unknown_credential_is_ignored(storage: &impl Storage) {
    seed_accounts(storage, &["a", "b"]).await;
    let keys = [api_key("a", "key_1", "token-1"), api_key("b", "key_2", "token-2")];
    for key in &keys {
        create(storage, key).await;
    }
    let unknown_uses =
        [("a", "key_2"), ("b", "key_1"), ("c", "key_1"), ("a", "KEY_1"), ("a", "%"), ("a", ""), ("a", "\0")];
    let unknown_uses = unknown_uses.map(|(account, key)| CredentialUse {
        account: id(account),
        credential_id: key.into(),
        at: time(9),
    });
    record_uses(storage, &unknown_uses).await;
    for account in ["a", "b"] {
        assert_eq!(last_uses(storage, account).await, [None], "A use of an unknown credential is ignored.");
    }
    let with_known = [&unknown_uses[..3], &[used(&keys[0], time(1))], &unknown_uses[3..]].concat();
    record_uses(storage, &with_known).await;
    assert_eq!(last_uses(storage, "a").await, [Some(time(1))], "A use is recorded along with ignored ones.");
}

/// A use changes nothing that a request reads: neither the revision nor the result of a lookup.
pub async fn use_does_not_change_revision_or_lookup(storage: &impl Storage) {
    seed(storage, &[course("a", "course")]).await;
    let key = api_key("a", "key_1", "token-1");
    create(storage, &key).await;
    let revision = async || storage.revision(&id("a")).await.expect("a revision can be read");
    let found = async || storage.find_credential(&key.digest).await.expect("a credential can be looked up");
    let before = (revision().await, found().await);
    record_uses(storage, &[used(&key, time(1))]).await;
    assert_eq!((revision().await, found().await), before, "A use leaves the revision and the lookup result unchanged.");
}

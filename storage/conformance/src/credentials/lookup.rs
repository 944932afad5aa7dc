//! Credential lookups by the digest of the token.

use catalogue_core::Timestamp;
use catalogue_core::admin::NewCredential;
use catalogue_core::auth::Scopes;
use catalogue_core::storage::CredentialStorage;

use crate::CredentialFixture;
use crate::concurrency::{on_threads, poll_then_drop};
use crate::credential_lookup::{assert_stored, find, put};
use crate::seed::{api_key, digest, instant, oauth_tokens, similar_digests, time};

/// A credential is found only by its whole digest.
pub async fn credential_is_found_only_by_whole_digest(fixture: &impl CredentialFixture) {
    assert_eq!(find(fixture, &digest("unknown")).await, None, "An unknown digest returns None, not an error.");
    let mut credentials = Vec::new();
    for (index, digest) in similar_digests().into_iter().enumerate() {
        assert_eq!(find(fixture, &digest).await, None, "A credential is found only by its whole digest.");
        let key = api_key("a", &format!("key_{index}"), &format!("token-{index}"));
        credentials.push(put(fixture, &NewCredential { digest, ..key }).await);
    }
    for credential in &credentials {
        assert_stored(fixture, credential, "A credential is found by its whole digest.").await;
    }
}

/// Scopes are stored, including none at all and those that the contract does not know.
pub async fn scopes_are_stored_unchanged(fixture: &impl CredentialFixture) {
    for (index, names) in [
        "",
        "read:profile",
        "read:courses",
        "read:courses read:profile",
        "read:profile write:everything",
        "zebra apple Apple READ:COURSES read:courses: read",
        "a,b 'c' [d] {e} https://example.org/scope?x=1&y=%20 ~!#$*+;<=>@^`|",
    ]
    .into_iter()
    .enumerate()
    {
        let mut credential = api_key("a", &format!("key_{index}"), &format!("token-{index}"));
        credential.record.identity.scopes = Scopes::from_names(names.split_whitespace());
        let credential = put(fixture, &credential).await;
        assert_stored(fixture, &credential, &format!("Scopes are stored, even none and unknown ones: {names:?}."))
            .await;
    }
}

/// An expiry is stored with the table's precision, and an expired credential is still found: the authenticator refuses it.
pub async fn expiry_is_stored_to_declared_precision(fixture: &impl CredentialFixture) {
    let times = [Timestamp::MIN, instant(-1), instant(0), instant(1), time(999_999), time(123_456), Timestamp::MAX];
    for (index, expiry) in times.into_iter().enumerate() {
        let mut credential = api_key("a", &format!("key_{index}"), &format!("token-{index}"));
        credential.record.expires_at = Some(expiry);
        let credential = put(fixture, &credential).await;
        assert_stored(fixture, &credential, "Expiry is stored to the declared precision and hides no credential.")
            .await;
    }
}

/// An API key or OAuth token is found with all its fields, and from its revocation on with the time of it.
pub async fn revoked_credential_is_found_as_revoked(fixture: &impl CredentialFixture) {
    let mut credentials = vec![api_key("a", "key_1", "token-1"), api_key("b", "key_10", "token-3")];
    credentials.extend(oauth_tokens(fixture, [("a", "token-2")]));
    for credential in &mut credentials {
        *credential = put(fixture, credential).await;
        assert_stored(fixture, credential, "A credential is found with all its fields.").await;
    }
    for (index, microseconds) in [(0, 7), (credentials.len() - 1, 123_456)] {
        let at = fixture.precision().truncate(time(microseconds));
        let revoked = &mut credentials[index].record;
        revoked.revoked_at = Some(at);
        fixture.revoke_credential(&revoked.identity.credential_id.clone(), at).await;
        for credential in &credentials {
            assert_stored(fixture, credential, "Only a revoked credential is found as revoked.").await;
        }
    }
}

/// Concurrent lookups on several threads return the same results as single ones.
pub async fn concurrent_lookups_return_own_results(fixture: &impl CredentialFixture) {
    let mut credentials = Vec::new();
    for (index, account) in ["a", "b", "a", "c"].into_iter().enumerate() {
        let credential = api_key(account, &format!("key_{index}"), &format!("token-{index}"));
        credentials.push(put(fixture, &credential).await);
    }
    on_threads(4, async |_| {
        for credential in credentials.iter().cycle().take(60) {
            assert_stored(fixture, credential, "Concurrent lookups each return their own result.").await;
        }
    });
}

/// A lookup that is dropped before its end, or before its first poll, does not affect later ones.
pub async fn dropped_lookup_does_not_affect_later_ones(fixture: &impl CredentialFixture) {
    let credential = put(fixture, &api_key("a", "key_1", "token-1")).await;
    for polls in [0, 1, 2].into_iter().cycle().take(300) {
        poll_then_drop(fixture.storage().find_credential(&credential.digest), polls);
    }
    let result = fixture.storage().find_credential(&credential.digest).await;
    assert!(result.is_ok(), "Lookups succeed after others were dropped before they finished: {result:?}.");
    assert_stored(fixture, &credential, "A dropped lookup does not affect later ones.").await;
}

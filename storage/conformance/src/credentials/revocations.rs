//! Revocations of signed tokens, found by the digest of the whole token. A storage without revocations passes.

use catalogue_core::storage::CredentialStorage;

use crate::CredentialFixture;
use crate::credential_lookup::{is_revoked, put};
use crate::seed::{api_key, digest, second, similar_digests};

/// A token is revoked from its revocation on and not before, even if it was looked up before.
pub async fn revocation_applies_from_next_lookup(fixture: &impl CredentialFixture) {
    for number in 0..20 {
        let token = digest(&format!("token-{number}"));
        for _ in 0..2 {
            let revoked = is_revoked(fixture.storage(), &token).await;
            assert_ne!(revoked, Some(true), "A token is not revoked before its revocation.");
            if revoked.is_none() {
                return;
            }
        }
        fixture.revoke_token(&token, second(600)).await;
        let revoked = is_revoked(fixture.storage(), &token).await;
        assert_eq!(revoked, Some(true), "A revocation applies from the next lookup on.");
    }
}

/// A revoked token is identified by its whole digest. A credential is not a revocation, and a revocation is not a credential.
pub async fn revoked_token_is_found_only_by_whole_digest(fixture: &impl CredentialFixture) {
    let tokens = similar_digests();
    if is_revoked(fixture.storage(), &tokens[0]).await.is_none() {
        return;
    }
    let key = put(fixture, &api_key("a", "key_1", "of-a-key")).await;
    let revoked = is_revoked(fixture.storage(), &key.digest).await;
    assert_eq!(revoked, Some(false), "A credential is not a revocation.");
    for token in &tokens {
        let revoked = is_revoked(fixture.storage(), token).await;
        assert_eq!(revoked, Some(false), "A revoked token is found only by its whole digest.");
        fixture.revoke_token(token, second(600)).await;
    }
    for token in &tokens {
        let revoked = is_revoked(fixture.storage(), token).await;
        assert_eq!(revoked, Some(true), "A token stays revoked while others are revoked.");
        let found = fixture.storage().find_credential(token).await;
        assert_eq!(found.expect("a credential can be looked up"), None, "A revocation is not a credential.");
    }
}

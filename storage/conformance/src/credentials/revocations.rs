//! Revocations of signed tokens, found by the digest of the whole token. A storage without them passes.

use catalogue_core::storage::CredentialStorage;

use crate::CredentialFixture;
use crate::credential_lookup::{is_revoked, put, similar_tokens};
use crate::seed::{api_key, digest, second};

/// A token is revoked from its revocation on and not before, even if it was looked up before.
pub async fn revocation_applies_from_next_lookup(fixture: &impl CredentialFixture) {
    for number in 0..20 {
        let token = digest(&format!("token-{number}"));
        for _ in 0..2 {
            let revoked = is_revoked(fixture.storage(), &token).await;
            assert_ne!(revoked, Some(true), "A token that nobody has revoked is not revoked.");
            if revoked.is_none() {
                return;
            }
        }
        fixture.revoke_token(&token, second(600)).await;
        let revoked = is_revoked(fixture.storage(), &token).await;
        assert_eq!(revoked, Some(true), "A revocation counts from the next look-up on.");
    }
}

/// A revoked token is identified by its whole digest. A credential is not a revocation, and a revocation is not a credential.
pub async fn revoked_token_is_found_only_by_whole_digest(fixture: &impl CredentialFixture) {
    let near = similar_tokens();
    if is_revoked(fixture.storage(), &digest(&near[0])).await.is_none() {
        return;
    }
    let key = put(fixture, &api_key("a", "key_1", "of-a-key")).await;
    let revoked = is_revoked(fixture.storage(), &key.digest).await;
    assert_eq!(revoked, Some(false), "A credential is no revocation.");
    for token in &near {
        let revoked = is_revoked(fixture.storage(), &digest(token)).await;
        assert_eq!(revoked, Some(false), "A revoked token is known by its whole digest and in no other way.");
        fixture.revoke_token(&digest(token), second(600)).await;
    }
    for token in &near {
        let revoked = is_revoked(fixture.storage(), &digest(token)).await;
        assert_eq!(revoked, Some(true), "A revoked token stays so while others are revoked.");
        let found = fixture.storage().find_credential(&digest(token)).await;
        assert_eq!(found.expect("a credential can be looked up"), None, "A revocation is no credential.");
    }
}

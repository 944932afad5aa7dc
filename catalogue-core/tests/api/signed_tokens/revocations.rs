//! Revocations of signed tokens: the lookup of a revocation replaces the lookup of a credential (decisions O6 and O29).

use std::sync::Arc;

use catalogue_core::admin::AdminStorage as _;
use catalogue_core::auth::{BearerToken, Credential, Identity, Scopes, StoredCredentials, TokenDigest};
use catalogue_core::storage::{CredentialStorage, MemoryStorage, StorageError};
use catalogue_core::{AccountId, Catalogue, Timestamp, async_trait};
use catalogue_storage_tests::intercept::Intercept;
use http::Request;
use serde_json::json;

use super::issuer::Issuer;
use super::refusal;
use crate::app::{BASE, OWNER, TestResponse, send};

/// A storage with one credential, which does not implement `is_revoked`.
#[derive(Debug)]
struct WithoutRevocations(TokenDigest, Credential);

#[async_trait]
impl CredentialStorage for WithoutRevocations {
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        Ok(Some(self.1.clone()).filter(|_| self.0 == *digest))
    }
}

async fn me(catalogue: &Catalogue, token: &str) -> TestResponse {
    let request = Request::get("/api/v1/me").header("authorization", format!("Bearer {token}"));
    send(catalogue, BASE, request.body(()).unwrap()).await
}

fn catalogue(storage: impl CredentialStorage, issuer: &Issuer) -> Catalogue {
    let builder = Catalogue::builder(MemoryStorage::new(), StoredCredentials::new(storage));
    builder.or_authenticator(issuer.tokens()).build().unwrap()
}

/// A revocation applies from the next request, and costs no additional lookup.
#[tokio::test]
async fn revoked_token_is_refused_with_one_lookup() {
    let issuer = Issuer::new();
    let memory = MemoryStorage::new();
    let storage = Arc::new(Intercept::new(memory.clone()));
    let lookups = || [storage.count(&["is_revoked"]), storage.count(&["find_credential"])];
    let catalogue = catalogue(Arc::clone(&storage), &issuer);
    let token = issuer.token(&json!({}));
    for _ in 0..2 {
        assert_eq!(me(&catalogue, &token).await.status, 200);
    }
    let digest = BearerToken::new(&token).unwrap().digest();
    memory.revoke_tokens(&[digest], Timestamp::MAX, Timestamp::now()).await.unwrap();
    let response = me(&catalogue, &token).await;
    assert_eq!(refusal(&response), (json!("revoked"), r#"Bearer realm="catalogue", error="invalid_token""#));
    assert_eq!(lookups(), [3, 0]);
    // Other credentials cost no additional lookup either.
    for token in ["cato_x", "opaque", "a.b"] {
        assert_eq!(me(&catalogue, token).await.status, 401);
    }
    assert_eq!(lookups(), [3, 3]);
}

/// A storage without revocations may have credentials of any form.
#[tokio::test]
async fn stored_credential_may_look_like_signed_token() {
    let issuer = Issuer::new();
    let digest = BearerToken::new("a.b.c").unwrap().digest();
    let stored = Credential::new(Identity::oauth(AccountId::new(OWNER), &digest, Scopes::default()));
    let catalogue = catalogue(WithoutRevocations(digest, stored), &issuer);
    assert_eq!(me(&catalogue, "a.b.c").await.data()["userId"], OWNER);
    assert_eq!(me(&catalogue, &issuer.token(&json!({}))).await.status, 200);
}

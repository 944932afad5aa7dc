//! Revocations of signed tokens: the lookup of a revocation replaces the lookup of a credential (decisions O6 and O29).

use std::sync::{Arc, Mutex};

use catalogue_core::auth::{BearerToken, Credential, Identity, Scopes, StoredCredentials, TokenDigest};
use catalogue_core::storage::{CredentialStorage, MemoryStorage, StorageError};
use catalogue_core::{AccountId, Catalogue, async_trait};
use http::Request;
use serde_json::json;

use super::issuer::Issuer;
use super::refusal;
use crate::app::{BASE, OWNER, TestResponse, send};

/// A storage that has only revocations, and records its calls.
#[derive(Debug, Default)]
struct Revocations {
    revoked: Mutex<Vec<TokenDigest>>,
    lookups: Mutex<Vec<&'static str>>,
}

#[async_trait]
impl CredentialStorage for Revocations {
    async fn find_credential(&self, _: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        self.lookups.lock().unwrap().push("credential");
        Ok(None)
    }

    async fn is_revoked(&self, digest: &TokenDigest) -> Result<Option<bool>, StorageError> {
        self.lookups.lock().unwrap().push("revocation");
        Ok(Some(self.revoked.lock().unwrap().contains(digest)))
    }
}

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
    let storage = Arc::<Revocations>::default();
    let catalogue = catalogue(Arc::clone(&storage), &issuer);
    let token = issuer.token(&json!({}));
    for _ in 0..2 {
        assert_eq!(me(&catalogue, &token).await.status, 200);
    }
    storage.revoked.lock().unwrap().push(BearerToken::new(&token).unwrap().digest());
    let response = me(&catalogue, &token).await;
    assert_eq!(refusal(&response), (json!("revoked"), r#"Bearer realm="catalogue", error="invalid_token""#));
    assert_eq!(*storage.lookups.lock().unwrap(), ["revocation"; 3]);
    storage.lookups.lock().unwrap().clear();
    // Other credentials cost no additional lookup either.
    for token in ["cato_x", "opaque", "a.b"] {
        assert_eq!(me(&catalogue, token).await.status, 401);
    }
    assert_eq!(*storage.lookups.lock().unwrap(), ["credential"; 3]);
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

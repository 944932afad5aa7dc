//! Revocations of signed tokens: looked up in the place of credentials (decisions O6 and O29).

use std::sync::{Arc, Mutex};

use catalogue_core::auth::{BearerToken, Credential, Identity, Scopes, StoredCredentials, TokenDigest};
use catalogue_core::storage::{CredentialStorage, MemoryStorage, StorageError};
use catalogue_core::{AccountId, Catalogue, async_trait};
use http::Request;
use serde_json::json;

use super::issuer::Issuer;
use super::refusal;
use crate::app::{BASE, OWNER, TestResponse, ask};

/// Keeps credentials and revocations, and notes what it is asked for.
#[derive(Debug, Default)]
struct Revocations {
    /// `None` where it keeps no revocations.
    revoked: Option<Mutex<Vec<TokenDigest>>>,
    credential: Option<(TokenDigest, Credential)>,
    lookups: Mutex<Vec<&'static str>>,
}

#[async_trait]
impl CredentialStorage for Revocations {
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        self.lookups.lock().unwrap().push("credential");
        Ok(self.credential.clone().filter(|(known, _)| known == digest).map(|(_, credential)| credential))
    }

    async fn is_revoked(&self, digest: &TokenDigest) -> Result<Option<bool>, StorageError> {
        self.lookups.lock().unwrap().push("revocation");
        Ok(self.revoked.as_ref().map(|revoked| revoked.lock().unwrap().contains(digest)))
    }
}

/// Storage without revocations.
#[derive(Debug)]
struct WithoutRevocations(Arc<Revocations>);

#[async_trait]
impl CredentialStorage for WithoutRevocations {
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        self.0.find_credential(digest).await
    }
}

async fn me(catalogue: &Catalogue, token: &str) -> TestResponse {
    let request = Request::get("/api/v1/me").header("authorization", format!("Bearer {token}"));
    ask(catalogue, BASE, request.body(()).unwrap()).await
}

fn over(storage: impl CredentialStorage, issuer: &Issuer) -> Catalogue {
    let builder = Catalogue::builder(MemoryStorage::new(), StoredCredentials::new(storage));
    builder.or_authenticator(issuer.tokens()).build().unwrap()
}

/// A revocation counts from the next request on, and costs the one look-up that there was.
#[tokio::test]
async fn a_revoked_token_is_refused_at_once_by_one_look_up() {
    let issuer = Issuer::new();
    let storage = Arc::new(Revocations { revoked: Some(Mutex::default()), ..Revocations::default() });
    let catalogue = over(Arc::clone(&storage), &issuer);
    let token = issuer.token(&json!({}));
    for _ in 0..2 {
        assert_eq!(me(&catalogue, &token).await.status, 200);
    }
    storage.revoked.as_ref().unwrap().lock().unwrap().push(BearerToken::new(&token).unwrap().digest());
    let response = me(&catalogue, &token).await;
    assert_eq!(refusal(&response), (json!("revoked"), r#"Bearer realm="catalogue", error="invalid_token""#));
    assert_eq!(*storage.lookups.lock().unwrap(), ["revocation"; 3]);
    storage.lookups.lock().unwrap().clear();
    // Nor does another credential cost more than it did.
    for token in ["cato_x", "opaque", "a.b"] {
        assert_eq!(me(&catalogue, token).await.status, 401);
    }
    assert_eq!(*storage.lookups.lock().unwrap(), ["credential"; 3]);
}

/// A storage that keeps no revocations may have credentials of any form.
#[tokio::test]
async fn a_stored_credential_may_have_the_form_of_a_signed_token() {
    let issuer = Issuer::new();
    let digest = BearerToken::new("a.b.c").unwrap().digest();
    let stored = Credential::new(Identity::oauth(AccountId::new(OWNER), &digest, Scopes::default()));
    let storage = Arc::new(Revocations { credential: Some((digest, stored)), ..Revocations::default() });
    for catalogue in [over(Arc::clone(&storage), &issuer), over(WithoutRevocations(storage), &issuer)] {
        assert_eq!(me(&catalogue, "a.b.c").await.data()["userId"], OWNER);
        assert_eq!(me(&catalogue, &issuer.token(&json!({}))).await.status, 200);
    }
}

//! The caller's identity (section 4.1 and section 2.1; decisions A6, A10, A11).

use catalogue_core::auth::{CredentialKind, Scopes};
use serde_json::json;
use sha2::Digest as _;

use crate::app::{OWNER, TestApp};

#[tokio::test]
async fn me_returns_only_the_identity_for_any_scope() {
    let app = TestApp::new().await;
    for (scopes, sorted) in [
        ("read:courses read:profile", &["read:profile", "read:courses"][..]),
        ("read:profile", &["read:profile"]),
        ("read:courses", &["read:courses"]),
        ("zebra read:courses apple", &["read:courses", "apple", "zebra"]),
    ] {
        let (token, id) = app.credential(CredentialKind::ApiKey, OWNER, scopes, None).await;
        let expected = json!({ "data": { "userId": OWNER, "apiKeyId": id, "scopes": sorted } });
        assert_eq!(app.get(&token, "/api/v1/me").await.json(), expected);
    }
}

#[tokio::test]
async fn oauth_token_is_identified_by_its_hash() {
    let app = TestApp::new().await;
    let (token, id) = app.credential(CredentialKind::OAuth, OWNER, "read:profile", None).await;
    let data = app.get(&token, "/api/v1/me").await.data();
    assert_eq!(data["apiKeyId"], id);
    // The hash is computed here with another crate, not read back from the storage.
    let digest = sha2::Sha256::digest(&token);
    let hash: String = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(id, format!("oauth:{hash}"));
}

#[test]
fn scopes_may_be_empty() {
    assert!(Scopes::default().is_empty());
    assert!(!Scopes::from_names(["read:courses"]).is_empty());
}

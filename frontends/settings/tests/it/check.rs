//! The form that checks a key.

use catalogue_core::auth::{CredentialKind, NewToken};
use serde_json::{Value, json};

use crate::app::{App, Key, json_request, new_key};

#[tokio::test]
async fn check_finds_own_key_without_showing_token() {
    let (app, key) = App::with_key().await;
    let response = app.post("/settings/check", &[("token", &format!(" {}\n", key.token))]).await;
    assert_eq!(response.status, 200);
    response.shows("This key is yours:");
    response.shows(&key.page("/revoke"));
    response.hides(&key.token);
    let data = app.send("POST", "/settings/api/check", &json!({ "token": key.token })).await.data();
    assert_eq!((&data["kind"], &data["key"]["id"]), (&json!("api-key"), &json!(key.id)));
    assert_eq!(data["key"].get("token"), None);
}

#[tokio::test]
async fn other_accounts_key_is_indistinguishable_from_unknown_key() {
    let app = App::new().await;
    let create = json_request("POST", "/settings/api/keys", &new_key("other"));
    let others_key = Key::of(app.call_as("bert", create).await.data());
    let unknown = NewToken::mint(CredentialKind::ApiKey);
    let (mut pages, mut responses) = (Vec::new(), Vec::new());
    for token in [&*others_key.token, unknown.expose()] {
        let page = app.post("/settings/check", &[("token", token)]).await;
        page.shows("This key is not yours. Tell the operator of this service where you found it.");
        page.hides(token);
        pages.push(page.body);
        responses.push(app.send("POST", "/settings/api/check", &json!({ "token": token })).await.body);
    }
    assert_eq!(pages[0], pages[1]);
    assert_eq!(responses[0], responses[1]);
    assert_eq!(responses[0], json!({ "data": { "kind": "api-key", "key": Value::Null } }).to_string());
    let mut mistyped = unknown.expose().to_owned();
    mistyped.pop();
    for text in ["", "hello", &mistyped, "<script>a"] {
        let page = app.post("/settings/check", &[("token", text)]).await;
        page.shows("This is not a key of this service. Check that it is complete.");
        let kept = text.replace('<', "&lt;").replace('>', "&gt;");
        page.shows(&format!("value=\"{kept}\""));
        page.hides("<script>a");
    }
    let data = app.send("POST", "/settings/api/check", &json!({ "token": "hello" })).await.data();
    assert_eq!(data, json!({ "kind": null, "key": null }));
}

//! "Found a key?".

use catalogue_core::auth::{CredentialKind, NewToken};
use serde_json::{Value, json};

use crate::app::{App, json as request};

#[tokio::test]
async fn own_keys_are_found_and_the_text_is_not_shown() {
    let app = App::new().await;
    let key = app.make("partner").await;
    let token = key["token"].as_str().unwrap();
    let response = app.post("/settings/check", &[("token", &format!(" {token}\n"))]).await;
    assert_eq!(response.status, 200);
    response.shows("It is yours:");
    response.shows(&format!("/settings/keys/{}/revoke", key["id"].as_str().unwrap()));
    response.hides(token);
    let data = app.send("POST", "/settings/api/check", &json!({ "token": token })).await.data();
    assert_eq!((&data["kind"], &data["key"]["id"]), (&json!("api-key"), &key["id"]));
    assert_eq!(data["key"].get("token"), None);
}

#[tokio::test]
async fn a_foreign_key_and_none_are_the_same_bytes() {
    let app = App::new().await;
    let body = json!({ "name": "foreign", "scopes": ["read:courses"], "expiresAt": null });
    let foreign = app.ask_as("bert", request("POST", "/settings/api/keys", &body)).await.data();
    let nobodys = NewToken::mint(CredentialKind::ApiKey);
    let (mut pages, mut responses) = (Vec::new(), Vec::new());
    for token in [foreign["token"].as_str().unwrap(), nobodys.expose()] {
        let page = app.post("/settings/check", &[("token", token)]).await;
        page.shows("It has the form of a key and is none of yours.");
        page.hides(token);
        pages.push(page.body);
        responses.push(app.send("POST", "/settings/api/check", &json!({ "token": token })).await.body);
    }
    assert_eq!(pages[0], pages[1]);
    assert_eq!(responses[0], responses[1]);
    assert_eq!(responses[0], json!({ "data": { "kind": "api-key", "key": Value::Null } }).to_string());
    let mut mistyped = nobodys.expose().to_owned();
    mistyped.pop();
    for text in ["", "hello", &mistyped, "<script>"] {
        let page = app.post("/settings/check", &[("token", text)]).await;
        page.shows("It is no key of this service.");
        page.hides("<script>a");
    }
    let data = app.send("POST", "/settings/api/check", &json!({ "token": "hello" })).await.data();
    assert_eq!(data, json!({ "kind": null, "key": null }));
}

//! A form that is submitted twice creates one key.

use serde_json::json;

use crate::app::{App, DAY, Key, form, json_request, new_key};

/// Returns the fields of the form for a new key.
fn fields(nonce: &str) -> [(&str, &str); 5] {
    [("nonce", nonce), ("name", "a"), ("scope", "read:courses"), ("expires", "90d"), ("date", "")]
}

#[tokio::test]
async fn resubmitted_form_creates_no_key_and_shows_no_token() {
    let app = App::new().await;
    let nonce = app.nonce("/settings/keys/new").await;
    let fields = fields(&nonce);
    let first = app.post("/settings/keys", &fields).await;
    assert_eq!(first.status, 201);
    let second = app.post("/settings/keys", &fields).await;
    assert_eq!(second.status, 409);
    second.shows(
        "This key already exists, and its token was shown when it was created. If you do not have it, rotate the key.",
    );
    second.shows("<title>Already created");
    second.hides("ccat_");
    let mut keys = app.keys().await;
    assert_eq!(keys.len(), 1);
    second.shows(&format!("href=\"{}\"", Key::of(keys.remove(0)).page("")));
    // In another account, the same nonce results in another id, so one account cannot occupy an id of the other.
    assert_eq!(app.call_as("bert", form("/settings/keys", &fields)).await.status, 201);
}

#[tokio::test]
async fn concurrent_submissions_create_one_key() {
    let app = App::new().await;
    let nonce = app.nonce("/settings/keys/new").await;
    let fields = fields(&nonce);
    let (one, two) = tokio::join!(app.post("/settings/keys", &fields), app.post("/settings/keys", &fields));
    let (created, second) = if one.status == 201 { (one, two) } else { (two, one) };
    assert_eq!((created.status, second.status), (201, 409));
    second.shows("This key already exists");
    second.hides(&created.token());
    assert_eq!(app.keys().await.len(), 1);
}

#[tokio::test]
async fn resubmitted_rotation_creates_no_key() {
    let (app, key) = App::with_key().await;
    let nonce = app.nonce(&key.page("")).await;
    let fields = [("nonce", &*nonce), ("overlap", "24h")];
    assert_eq!(app.post(&key.page("/rotate"), &fields).await.status, 201);
    let second = app.post(&key.page("/rotate"), &fields).await;
    assert_eq!(second.status, 409);
    second.shows("This key already exists");
    assert_eq!(app.keys().await.len(), 2);
}

#[tokio::test]
async fn repeated_json_request_with_nonce_creates_no_key() {
    let app = App::new().await;
    let nonce = app.nonce("/settings/keys/new").await;
    let mut body = new_key("a");
    body["nonce"] = json!(nonce);
    assert_eq!(app.send("POST", "/settings/api/keys", &body).await.status, 201);
    let second = app.send("POST", "/settings/api/keys", &body).await;
    assert_eq!(second.failure(), (409, "invalid_request".to_owned(), Some("already_exists".to_owned())));
    assert_eq!(app.call_as("bert", json_request("POST", "/settings/api/keys", &body)).await.status, 201);
}

#[tokio::test]
async fn expired_form_gets_new_nonce() {
    let app = App::new().await;
    let nonce = app.nonce("/settings/keys/new").await;
    app.clock.advance(DAY + 1);
    let fields = fields(&nonce);
    let old = app.post("/settings/keys", &fields).await;
    assert_eq!(old.status, 400);
    old.shows("This form has expired or was changed. Here is a new one: send it again.");
    old.shows("value=\"a\"");
    old.hides(&nonce);
    let fresh = old.body.split("name=\"nonce\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(app.post("/settings/keys", &self::fields(fresh)).await.status, 201);
}

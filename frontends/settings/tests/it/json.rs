//! The JSON API of the settings.

use catalogue_settings::Owner;
use serde_json::{Value, json};

use crate::app::{App, DAY, Key, form, get, json_request};

/// Returns the schema of a key, with the properties `more`, such as those of a new key.
fn key_schema(more: &Value) -> Value {
    let time = json!({ "type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$" });
    let maybe_time = json!({ "anyOf": [time, { "type": "null" }] });
    let mut properties = json!({
        "id": { "type": "string", "pattern": "^key_[0-9a-f]{32}$" },
        "kind": { "const": "api-key" },
        "name": { "type": "string" },
        "prefix": { "type": "string", "pattern": "^ccat_[0-9A-Za-z]{3}$" },
        "scopes": { "type": "array", "items": { "enum": ["read:profile", "read:courses"] }, "minItems": 1 },
        "createdAt": time, "lastUsedAt": maybe_time, "expiresAt": maybe_time, "revokedAt": maybe_time,
        "replacedBy": { "type": ["string", "null"] },
        "state": { "enum": ["valid", "ending", "expired", "revoked"] },
        "hints": { "type": "array", "items": {
            "enum": ["ends_soon", "unused", "never_used", "still_used", "successor_unused", "successor_ended"]
        } },
    });
    properties.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let required: Vec<_> = properties.as_object().unwrap().keys().cloned().collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

#[track_caller]
fn check(schema: &Value, value: &Value) {
    let errors: Vec<_> = jsonschema::validator_for(schema).unwrap().iter_errors(value).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?} {value}");
}

#[tokio::test]
async fn keys_match_schema_in_all_responses() {
    let (app, created) = App::with_key().await;
    let token = json!({ "token": { "type": "string", "pattern": "^ccat_[0-9A-Za-z]{49}$" } });
    check(&key_schema(&token), &created.data);
    let plain = key_schema(&json!({}));
    check(&plain, &app.get(&created.api("")).await.data());
    let renamed = app.send("PATCH", &created.api(""), &json!({ "name": "Acme" })).await;
    assert_eq!((renamed.status, &renamed.data()["name"]), (200, &json!("Acme")));
    check(&plain, &renamed.data());
    app.clock.advance(1);
    let rotated = app.send("POST", &created.api("/rotate"), &json!({ "overlapSeconds": 0 })).await;
    assert_eq!(rotated.status, 201);
    let mut more = token.clone();
    more["replaces"] = json!({ "type": "object", "required": ["id", "expiresAt"], "additionalProperties": false,
        "properties": { "id": { "const": created.id }, "expiresAt": { "const": "2026-11-22T04:40:01.000Z" } } });
    check(&key_schema(&more), &rotated.data());
    let revoked = app.send("POST", &Key::of(rotated.data()).api("/revoke"), &json!({})).await;
    assert_eq!((revoked.status, &revoked.data()["state"]), (200, &json!("revoked")));
    check(&plain, &revoked.data());
    let list = app.get("/settings/api/keys").await;
    let states: Vec<_> = list.data().as_array().unwrap().iter().map(|key| key["state"].clone()).collect();
    assert_eq!(states, ["revoked", "expired"], "newest first");
    for key in list.data().as_array().unwrap() {
        check(&plain, key);
    }
    list.hides(&created.token);
}

#[tokio::test]
async fn events_record_action_key_and_actor() {
    let (app, key) = App::with_key().await;
    // The second renaming changes nothing, so it is not recorded.
    for _ in 0..2 {
        app.send("PATCH", &key.api(""), &json!({ "name": "Acme" })).await;
    }
    let owner = Owner::new("anna".into()).acting_as("user_17");
    let revoke = json_request("POST", &key.api("/revoke"), &json!({}));
    assert_eq!(app.call_by(owner, revoke).await.status, 200);
    let events = app.get("/settings/api/events").await;
    events.hides(&key.token);
    let data = events.data();
    let fields = ["action", "keyName", "actor", "keyId"];
    let entries: Vec<_> = data.as_array().unwrap().iter().map(|event| fields.map(|field| &event[field])).collect();
    assert_eq!(
        entries,
        [
            ["key_revoked", "Acme", "owner user_17", &key.id],
            ["key_renamed", "Acme", "owner", &key.id],
            ["key_created", "partner", "owner", &key.id],
        ]
    );
    let properties: Vec<_> = data[0].as_object().unwrap().keys().cloned().collect();
    assert_eq!(properties, ["action", "actor", "at", "id", "keyId", "keyName"]);
    assert_eq!(app.call_as("bert", get("/settings/api/events")).await.data(), json!([]));
}

#[tokio::test]
async fn failures_have_code_and_reason() {
    let (app, key) = App::with_key().await;
    let path = key.api("");
    let other_account = app.call_as("bert", get(&path)).await;
    assert_eq!(other_account.failure(), (404, "not_found".to_owned(), None));
    assert_eq!(other_account.body, app.get("/settings/api/keys/none").await.body);
    assert_eq!(app.get("/settings/api/nothing").await.failure().0, 404);
    assert_eq!(app.send("PUT", &path, &json!({})).await.failure(), (405, "invalid_request".to_owned(), None));
    assert_eq!(app.call(form(&format!("{path}/revoke"), &[])).await.failure().0, 415);
    assert_eq!(app.send("POST", "/settings/keys", &json!({})).await.status, 415);
    let unknown = app.send("PATCH", &path, &json!({ "name": "a", "scopes": ["read:profile"] })).await;
    assert_eq!(unknown.json()["error"]["details"], json!({ "parameter": "scopes", "reason": "unknown" }));
    for overlap in [json!(-1), json!(30 * DAY + 1), json!("1"), json!(0.5)] {
        let response = app.send("POST", &format!("{path}/rotate"), &json!({ "overlapSeconds": overlap })).await;
        assert_eq!(response.failure().2.unwrap(), "out_of_range", "{overlap}");
    }
    for body in ["", "[]", "{", "{\"name\":\"a\"} x"] {
        let mut request = json_request("PATCH", &path, &json!({}));
        *request.body_mut() = body.to_owned();
        assert_eq!(app.call(request).await.failure().0, 400, "{body}");
    }
    // If a property occurs twice, the intent is ambiguous.
    let end = "\"expiresAt\":\"2027-02-20T00:00:00Z\",\"expires\\u0041t\":null";
    let mut request = json_request("POST", "/settings/api/keys", &json!({}));
    *request.body_mut() = format!("{{\"name\":\"a\",\"scopes\":[\"read:courses\"],{end}}}");
    let details = app.call(request).await.json()["error"]["details"].clone();
    assert_eq!(details, json!({ "parameter": "expiresAt", "reason": "repeated" }));
    assert_eq!(app.send("POST", &format!("{path}/rotate"), &json!({ "overlapSeconds": 30 * DAY })).await.status, 201);
    let again = app.send("POST", &format!("{path}/rotate"), &json!({ "overlapSeconds": 0 })).await;
    assert_eq!(again.failure(), (409, "invalid_request".to_owned(), Some("not_rotatable".to_owned())));
}

#[tokio::test]
async fn bearer_token_is_ignored() {
    let (app, key) = App::with_key().await;
    let mut request = get("/settings/api/keys");
    request.headers_mut().insert("authorization", format!("Bearer {}", key.token).parse().unwrap());
    assert_eq!(app.call_as("bert", request).await.data(), json!([]));
}

//! The JSON API of the settings.

use serde_json::{Value, json};

use crate::app::{App, DAY, form, get};

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
            "enum": ["ends_soon", "unused", "never_used", "never_ends", "still_used", "successor_unused",
                "successor_ended"]
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
    let app = App::new().await;
    let token = json!({ "token": { "type": "string", "pattern": "^ccat_[0-9A-Za-z]{49}$" } });
    let created = app.make("partner").await;
    check(&key_schema(&token), &created);
    let path = format!("/settings/api/keys/{}", created["id"].as_str().unwrap());
    let plain = key_schema(&json!({}));
    check(&plain, &app.get(&path).await.data());
    let renamed = app.send("PATCH", &path, &json!({ "name": "Acme" })).await;
    assert_eq!((renamed.status, &renamed.data()["name"]), (200, &json!("Acme")));
    check(&plain, &renamed.data());
    app.clock.advance(1);
    let rotated = app.send("POST", &format!("{path}/rotate"), &json!({ "overlapSeconds": 0 })).await;
    assert_eq!(rotated.status, 201);
    let mut more = token.clone();
    more["replaces"] = json!({ "type": "object", "required": ["id", "expiresAt"], "additionalProperties": false,
        "properties": { "id": { "const": created["id"] }, "expiresAt": { "const": "2026-11-22T04:40:01.000Z" } } });
    check(&key_schema(&more), &rotated.data());
    let path = format!("/settings/api/keys/{}/revoke", rotated.data()["id"].as_str().unwrap());
    let revoked = app.send("POST", &path, &json!({})).await;
    assert_eq!((revoked.status, &revoked.data()["state"]), (200, &json!("revoked")));
    check(&plain, &revoked.data());
    let list = app.get("/settings/api/keys").await;
    let states: Vec<_> = list.data().as_array().unwrap().iter().map(|key| key["state"].clone()).collect();
    assert_eq!(states, ["revoked", "expired"], "newest first");
    for key in list.data().as_array().unwrap() {
        check(&plain, key);
    }
    list.hides(created["token"].as_str().unwrap());
}

#[tokio::test]
async fn events_record_action_key_and_actor() {
    let app = App::new().await;
    let key = app.make("partner").await;
    let id = key["id"].as_str().unwrap();
    // The second renaming changes nothing, so it is not recorded.
    for _ in 0..2 {
        app.send("PATCH", &format!("/settings/api/keys/{id}"), &json!({ "name": "Acme" })).await;
    }
    let owner = catalogue_settings::Owner::new("anna".into()).acting_as("user_17");
    let revoke = crate::app::json("POST", &format!("/settings/api/keys/{id}/revoke"), &json!({}));
    let revoke = revoke.map(|body| http_body_util::Full::new(bytes::Bytes::from(body)));
    assert_eq!(app.settings.call_as(owner, revoke).await.status(), 200);
    let events = app.get("/settings/api/events").await;
    events.hides(key["token"].as_str().unwrap());
    let entries: Vec<_> = events
        .data()
        .as_array()
        .unwrap()
        .iter()
        .map(|event| {
            [&event["action"], &event["keyName"], &event["actor"], &event["keyId"]]
                .map(|v| v.as_str().unwrap().to_owned())
        })
        .collect();
    let entries: Vec<[&str; 4]> = entries.iter().map(|event| event.each_ref().map(String::as_str)).collect();
    assert_eq!(
        entries,
        [
            ["key_revoked", "Acme", "owner user_17", id],
            ["key_renamed", "Acme", "owner", id],
            ["key_created", "partner", "owner", id],
        ]
    );
    let properties: Vec<_> = events.data()[0].as_object().unwrap().keys().cloned().collect();
    assert_eq!(properties, ["action", "actor", "at", "id", "keyId", "keyName"]);
    assert_eq!(app.call_as("bert", get("/settings/api/events")).await.data(), json!([]));
}

#[tokio::test]
async fn failures_have_code_and_reason() {
    let app = App::new().await;
    let key = app.make("partner").await;
    let path = format!("/settings/api/keys/{}", key["id"].as_str().unwrap());
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
        let mut request = crate::app::json("PATCH", &path, &json!({}));
        *request.body_mut() = body.to_owned();
        assert_eq!(app.call(request).await.failure().0, 400, "{body}");
    }
    // If a property occurs twice, the intent is ambiguous.
    let end = "\"expiresAt\":\"2027-02-20T00:00:00Z\",\"expires\\u0041t\":null";
    let mut request = crate::app::json("POST", "/settings/api/keys", &json!({}));
    *request.body_mut() = format!("{{\"name\":\"a\",\"scopes\":[\"read:courses\"],{end}}}");
    let details = app.call(request).await.json()["error"]["details"].clone();
    assert_eq!(details, json!({ "parameter": "expiresAt", "reason": "repeated" }));
    assert_eq!(app.send("POST", &format!("{path}/rotate"), &json!({ "overlapSeconds": 30 * DAY })).await.status, 201);
    let again = app.send("POST", &format!("{path}/rotate"), &json!({ "overlapSeconds": 0 })).await;
    assert_eq!(again.failure(), (409, "invalid_request".to_owned(), Some("not_rotatable".to_owned())));
}

#[tokio::test]
async fn bearer_token_is_ignored() {
    let app = App::new().await;
    let key = app.make("partner").await;
    let mut request = get("/settings/api/keys");
    request
        .headers_mut()
        .insert("authorization", format!("Bearer {}", key["token"].as_str().unwrap()).parse().unwrap());
    assert_eq!(app.call_as("bert", request).await.data(), json!([]));
}

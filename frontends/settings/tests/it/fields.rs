//! Invalid input causes a 400 with its reason. The fuzz target `settings` asserts that none causes a 500 or an invalid key.

use serde_json::{Value, json};

use crate::app::{App, form, json_request, new_key};

#[tokio::test]
async fn invalid_fields_return_400_with_reason() {
    let app = App::new().await;
    let body_with = |change: (&str, Value)| {
        let mut body = new_key("a");
        body[change.0] = change.1;
        body
    };
    for (field, value, reason) in [
        ("name", json!(""), Some("empty")),
        ("name", json!(" \t "), Some("empty")),
        ("name", json!("é".repeat(100)), None),
        ("name", json!("é".repeat(101)), Some("too_long")),
        ("name", json!("a\u{0}b"), Some("character")),
        ("name", json!("a\u{2066}b"), Some("character")),
        ("name", json!("a\u{2067}b"), Some("character")),
        ("name", json!("مدرسة"), None),
        ("name", json!("\u{200b}"), Some("character")),
        ("name", json!("\u{200e}\u{200f} \u{61c}\u{feff}\u{ad}\u{e0041}"), Some("character")),
        ("name", json!("❤\u{fe0f} می\u{200c}خواهم"), None),
        ("name", json!("a\u{fffd}"), Some("character")),
        ("name", json!(7), Some("unknown")),
        ("scopes", json!([]), Some("empty")),
        ("scopes", json!(["read:courses", "read:profile", "read:courses"]), None),
        ("scopes", json!(["admin"]), Some("unknown_scope")),
        ("scopes", json!(["read:courses read:profile"]), Some("unknown_scope")),
        ("scopes", json!([1]), Some("unknown_scope")),
        ("scopes", json!("read:courses"), Some("unknown")),
        ("expiresAt", json!("2026-11-22T04:40:00Z"), Some("in_the_past")),
        ("expiresAt", json!("2026-11-22T04:40:00.001Z"), None),
        ("expiresAt", json!("2027-02-20"), Some("not_a_time")),
        ("expiresAt", json!(90), Some("not_a_time")),
        ("expiresat", json!(null), Some("unknown")),
        ("nonce", json!("x"), Some("out_of_range")),
        ("nonce", json!(null), None),
    ] {
        let response = app.send("POST", "/settings/api/keys", &body_with((field, value.clone()))).await;
        match reason {
            None => assert_eq!(response.status, 201, "{field} {value}: {}", response.body),
            Some(reason) => {
                let details = &response.json()["error"]["details"];
                assert_eq!((response.status, &details["parameter"]), (400, &json!(field)), "{value}");
                assert_eq!(details["reason"], reason, "{field} {value}");
            }
        }
    }
    for field in ["name", "scopes", "expiresAt"] {
        let mut body = new_key("a");
        body.as_object_mut().unwrap().remove(field);
        let details = app.send("POST", "/settings/api/keys", &body).await.json()["error"]["details"].clone();
        assert_eq!(details, json!({ "parameter": field, "reason": "missing" }));
    }
}

#[tokio::test]
async fn errors_describe_valid_values() {
    let (app, key) = App::with_key().await;
    let nonce = "nonce: Send a UUIDv7 of the last 24 hours as 32 hexadecimal digits, or omit it.";
    let seconds = "overlapSeconds: Use whole seconds from 0 to 2592000.";
    for (body, message) in [
        ("{\"overlapSeconds\":0,\"nonce\":\"x\"}", nonce),
        ("{\"overlapSeconds\":0,\"nonce\":7}", nonce),
        ("{\"overlapSeconds\":-1}", seconds),
        ("{\"overlapSeconds\":1.5}", seconds),
        ("", "body: Send one JSON object with only the properties of this request."),
        ("[]", "body: Send one JSON object with only the properties of this request."),
    ] {
        let mut request = json_request("POST", &key.api("/rotate"), &json!({}));
        *request.body_mut() = body.to_owned();
        assert_eq!(app.call(request).await.json()["error"]["message"], message, "{body}");
    }
    let date = [("name", "a"), ("scope", "read:courses"), ("expires", "date"), ("date", "9999-12-31")];
    app.post("/settings/keys", &date).await.shows("That date is too far ahead. Choose an earlier one.");
    // Invalid UTF-8, which browsers never send.
    let mut bytes = form(&key.page("/name"), &[]);
    *bytes.body_mut() = "name=%ff%fe".to_owned();
    app.call(bytes).await.shows("This field has a character that cannot be displayed. Use plain text.");
}

#[tokio::test]
async fn repeated_single_value_field_returns_400() {
    let app = App::new().await;
    let nonce = app.nonce("/settings/keys/new").await;
    let valid = [("nonce", &*nonce), ("name", "a"), ("scope", "read:courses"), ("expires", "never"), ("date", "")];
    for twice in ["nonce", "name", "expires", "date"] {
        let mut fields = valid.to_vec();
        fields.push((twice, "x"));
        let response = app.post("/settings/keys", &fields).await;
        assert_eq!(response.status, 400, "{twice}");
    }
    let twice = app.post("/settings/check", &[("token", "a"), ("token", "b")]).await;
    assert_eq!(twice.status, 400);
    twice.shows("<p role=\"alert\">The key was sent twice. Send it once.</p>");
    let mut fields = valid.to_vec();
    fields.extend([("scope", "read:profile"), ("unknown", "1"), ("unknown", "2")]);
    assert_eq!(app.post("/settings/keys", &fields).await.status, 201);
}

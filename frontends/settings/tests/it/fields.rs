//! Invalid input never causes a 500 or an invalid key.

use proptest::prelude::*;
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

fn word() -> impl Strategy<Value = String> {
    let valid = ["read:courses", "90d", "date", "2027-02-20", "partner"].map(str::to_owned);
    prop_oneof![5 => prop::sample::select(valid.to_vec()), 1 => "\\PC{0,5}", 1 => "[0-9]{4}-[0-9]{2}-[0-9]{2}", 1 => any::<String>()]
}

fn field() -> impl Strategy<Value = String> {
    let known = ["name", "scope", "expires", "date", "overlap"].map(str::to_owned);
    prop_oneof![5 => prop::sample::select(known.to_vec()), 1 => "[a-z]{1,3}"]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word().prop_map(Value::from)
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::hash_map(word(), inner, 0..3).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

/// Checks that each key has a name, a scope, and no expiry in the past.
async fn check_keys(app: &App) {
    for key in app.keys().await {
        let name = key["name"].as_str().unwrap();
        assert!(!name.trim().is_empty() && name.chars().count() <= 100, "{key}");
        assert!(!key["scopes"].as_array().unwrap().is_empty(), "{key}");
        assert!(key["expiresAt"].as_str().is_none_or(|end| end > "2026-11-22T04:40:00.000Z"), "{key}");
    }
}

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(test);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn forms_with_any_fields_never_return_500(fields in prop::collection::vec((field(), word()), 0..8)) {
        run(async {
            let (app, key) = App::with_key().await;
            let nonce = app.nonce("/settings/keys/new").await;
            let mut pairs = vec![("nonce", &*nonce)];
            pairs.extend(fields.iter().map(|(name, value)| (&**name, &**value)));
            for path in ["/settings/keys", &key.page("/name"), &key.page("/rotate"), "/settings/check"] {
                let response = app.post(path, &pairs).await;
                assert!(matches!(response.status, 200 | 201 | 303 | 400 | 409), "{path}: {}", response.status);
            }
            check_keys(&app).await;
        });
    }

    #[test]
    fn json_of_any_shape_never_returns_500(body in value(), name in value(), scopes in value(), end in value()) {
        run(async {
            let app = App::new().await;
            for body in [&body, &json!({ "name": name, "scopes": scopes, "expiresAt": end })] {
                for path in ["/settings/api/keys", "/settings/api/check"] {
                    let response = app.send("POST", path, body).await;
                    assert!(matches!(response.status, 200 | 201 | 400), "{path} {body}: {}", response.status);
                }
            }
            check_keys(&app).await;
        });
    }

    #[test]
    fn queries_of_any_text_return_200(query in "\\PC*") {
        run(async {
            let app = App::new().await;
            let query: String = form_urlencoded::byte_serialize(query.as_bytes()).collect();
            for path in ["/settings", "/settings/keys/new"] {
                let path = format!("{path}?name={query}&scope={query}&expires={query}&done=revoked&key={query}&{query}");
                assert_eq!(app.get(&path).await.status, 200);
            }
        });
    }
}

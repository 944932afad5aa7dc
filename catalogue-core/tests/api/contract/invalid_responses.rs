//! Tests of the check itself: a real response with one error does not fit. Every test shows that real responses fit.

use http::{HeaderName, HeaderValue, Method, StatusCode};
use serde_json::{Value, json};

use super::check::differences;
use super::document::DOCUMENT;
use crate::app::{BASE, TestApp, TestResponse, course};

/// Returns a real page of a list that has a further page.
async fn page() -> TestResponse {
    let (app, token) = TestApp::with_courses([course("a", 0), course("b", 1)]).await;
    app.get(&token, "/api/v1/courses?limit=1").await
}

/// Returns a real refusal.
async fn refusal() -> TestResponse {
    TestApp::new().await.send(Method::GET, "/api/v1/courses", &[]).await
}

/// Returns the response with another body.
fn with_body(mut response: TestResponse, change: impl FnOnce(&mut Value)) -> TestResponse {
    let mut body = response.json();
    change(&mut body);
    response.body = body.to_string().into();
    response
}

#[track_caller]
fn assert_found(response: &TestResponse, piece: &str) {
    let found = differences(&DOCUMENT, BASE, &Method::GET, "/api/v1/courses", response).join("\n");
    assert!(found.contains(piece), "{piece:?} is not in {found:?}");
}

#[tokio::test]
async fn body_that_violates_schema_is_detected() {
    type Change = fn(&mut Value);
    let changes: [(Change, &str); 5] = [
        (|body| body["data"][0]["content"] = "a module's body".into(), "'content'"),
        (|body| _ = body["data"][0].as_object_mut().unwrap().remove("slug"), "\"slug\" is a required property"),
        (|body| body["data"][0]["title"] = Value::Null, "body/data/0/title"),
        (|body| body["data"][0]["publishedAt"] = "yesterday".into(), "body/data/0/publishedAt"),
        (|body| *body = json!([]), "is not of type \"object\""),
    ];
    for (change, piece) in changes {
        assert_found(&with_body(page().await, change), piece);
    }
    assert_found(&with_body(refusal().await, |body| body["error"]["code"] = "teapot".into()), "body/error/code");
    assert_found(&TestResponse { body: "<html>".into(), ..page().await }, "not JSON");
}

#[tokio::test]
async fn missing_unlisted_repeated_and_invalid_headers_are_detected() {
    for name in ["etag", "cache-control", "vary", "x-request-id"] {
        let mut response = page().await;
        response.headers.remove(name).unwrap();
        assert_found(&response, &format!("{name} is missing"));
    }
    let mut response = refusal().await;
    response.headers.remove("www-authenticate").unwrap();
    assert_found(&response, "www-authenticate is missing");

    for name in ["retry-after", "allow", "set-cookie", "server"] {
        let mut response = page().await;
        response.headers.insert(HeaderName::from_static(name), HeaderValue::from_static("1"));
        assert_found(&response, &format!("{name} is not listed"));
    }
    let mut response = page().await;
    response.headers.append("etag", HeaderValue::from_static("\"another\""));
    assert_found(&response, "etag occurs 2 times");

    let app = TestApp::with(|builder| builder.max_in_flight(0)).await;
    let mut response = app.send(Method::GET, "/api/v1/courses", &[]).await;
    response.headers.insert("retry-after", HeaderValue::from_static("soon"));
    assert_found(&response, "retry-after: ");
}

#[tokio::test]
async fn unlisted_statuses_and_media_types_are_detected() {
    for status in [StatusCode::NOT_FOUND, StatusCode::IM_A_TEAPOT, StatusCode::CREATED] {
        assert_found(&TestResponse { status, ..refusal().await }, "listCourses does not list");
    }
    let mut response = page().await;
    response.headers.insert("content-type", HeaderValue::from_static("text/html"));
    assert_found(&response, "the media type is");
    let not_modified = TestResponse { status: StatusCode::NOT_MODIFIED, ..page().await };
    assert_found(&not_modified, "there is a body");
}

#[tokio::test]
async fn failure_on_unknown_path_must_use_envelope() {
    let response = TestApp::new().await.send(Method::GET, "/elsewhere", &[]).await;
    let changed = with_body(response, |body| body["error"]["cause"] = "SQL".into());
    assert!(!differences(&DOCUMENT, BASE, &Method::GET, "/elsewhere", &changed).is_empty());
}

//! That the check finds what it is there for: a real answer fits, and the same answer with one fault does not.

use http::{HeaderName, HeaderValue, Method, StatusCode};
use serde_json::{Value, json};

use super::check::faults;
use super::document::{DOCUMENT, Document, printed};
use crate::app::{Answer, BASE, OWNER, TestApp, course};

/// A real page of a list, with a further one.
async fn page() -> Answer {
    let app = TestApp::new().await;
    app.put([course("a", 0), course("b", 1)]).await;
    app.get(&app.key(OWNER, "read:courses").await, "/api/v1/courses?limit=1").await
}

/// A real refusal.
async fn refusal() -> Answer {
    TestApp::new().await.send(Method::GET, "/api/v1/courses", &[]).await
}

fn faults_of(answer: &Answer) -> String {
    faults(&DOCUMENT, BASE, &Method::GET, "/api/v1/courses", answer).join("\n")
}

/// The answer with another body.
fn with_body(mut answer: Answer, change: impl FnOnce(&mut Value)) -> Answer {
    let mut body = answer.json();
    change(&mut body);
    answer.body = body.to_string().into();
    answer
}

#[track_caller]
fn assert_found(answer: &Answer, piece: &str) {
    let found = faults_of(answer);
    assert!(found.contains(piece), "{piece:?} is not in {found:?}");
}

#[tokio::test]
async fn real_answers_fit() {
    for answer in [page().await, refusal().await] {
        assert_eq!(faults_of(&answer), "");
    }
}

#[tokio::test]
async fn a_body_that_the_schema_does_not_allow_is_found() {
    type Change = fn(&mut Value);
    let changes: [(Change, &str); 9] = [
        (|body| body["data"][0]["content"] = "a module's body".into(), "'content'"),
        (|body| body["other"] = Value::Null, "'other'"),
        (|body| body["meta"]["total"] = 2.into(), "'total'"),
        (|body| _ = body["data"][0].as_object_mut().unwrap().remove("slug"), "\"slug\" is a required property"),
        (|body| _ = body.as_object_mut().unwrap().remove("meta"), "\"meta\" is a required property"),
        (|body| body["data"][0]["title"] = Value::Null, "body/data/0/title"),
        (|body| body["data"][0]["moduleCount"] = (-1).into(), "body/data/0/moduleCount"),
        (|body| body["data"][0]["publishedAt"] = "yesterday".into(), "body/data/0/publishedAt"),
        (|body| *body = json!([]), "is not of type \"object\""),
    ];
    for (change, piece) in changes {
        assert_found(&with_body(page().await, change), piece);
    }
    assert_found(&with_body(refusal().await, |body| body["error"]["code"] = "teapot".into()), "body/error/code");
    assert_found(&Answer { body: "<html>".into(), ..page().await }, "no JSON");
}

#[tokio::test]
async fn headers_that_are_missing_or_not_listed_are_found() {
    for name in ["etag", "cache-control", "vary", "x-request-id"] {
        let mut answer = page().await;
        answer.headers.remove(name).unwrap();
        assert_found(&answer, &format!("{name} is missing"));
    }
    let mut answer = refusal().await;
    answer.headers.remove("www-authenticate").unwrap();
    assert_found(&answer, "www-authenticate is missing");

    for name in ["retry-after", "allow", "set-cookie", "server"] {
        let mut answer = page().await;
        answer.headers.insert(HeaderName::from_static(name), HeaderValue::from_static("1"));
        assert_found(&answer, &format!("{name} is not listed"));
    }
    let mut answer = page().await;
    answer.headers.append("etag", HeaderValue::from_static("\"another\""));
    assert_found(&answer, "etag came 2 times");
}

#[tokio::test]
async fn a_number_that_is_none_is_found() {
    let app = TestApp::with(|builder| builder.max_in_flight(0)).await;
    let mut answer = app.send(Method::GET, "/api/v1/courses", &[]).await;
    assert_eq!(faults_of(&answer), "");
    answer.headers.insert("retry-after", HeaderValue::from_static("soon"));
    assert_found(&answer, "retry-after: ");
}

#[tokio::test]
async fn statuses_and_media_types_that_are_not_listed_are_found() {
    for status in [StatusCode::NOT_FOUND, StatusCode::IM_A_TEAPOT, StatusCode::CREATED] {
        assert_found(&Answer { status, ..refusal().await }, "listCourses does not list");
    }
    let mut answer = page().await;
    answer.headers.insert("content-type", HeaderValue::from_static("text/html"));
    assert_found(&answer, "the media type is");
    let not_modified = Answer { status: StatusCode::NOT_MODIFIED, ..page().await };
    assert_found(&not_modified, "there is a body");
}

#[tokio::test]
async fn a_failure_elsewhere_must_be_the_envelope() {
    let answer = TestApp::new().await.send(Method::GET, "/elsewhere", &[]).await;
    let elsewhere = |answer: &Answer| faults(&DOCUMENT, BASE, &Method::GET, "/elsewhere", answer);
    assert!(elsewhere(&answer).is_empty());
    assert!(!elsewhere(&with_body(answer, |body| body["error"]["cause"] = "SQL".into())).is_empty());
}

#[tokio::test]
async fn a_document_that_says_less_is_found() {
    let mut less = printed();
    let described = &mut less["paths"]["/courses"]["get"]["responses"]["200"]["headers"];
    described.as_object_mut().unwrap().remove("Link").unwrap();
    less["paths"]["/courses"]["get"]["responses"].as_object_mut().unwrap().remove("401").unwrap();
    let less = Document::read(&less);
    for (answer, piece) in [(page().await, "link is not listed"), (refusal().await, "does not list 401")] {
        let found = faults(&less, BASE, &Method::GET, "/api/v1/courses", &answer).join("\n");
        assert!(found.contains(piece), "{found}");
    }
}

//! A single course (section 4.3, sections 2.3 and 2.4; decisions R4, R6, A12).

use catalogue_core::Course;
use serde_json::json;

use crate::app::{OTHER, OWNER, TestApp, course, for_other};

#[tokio::test]
async fn course_has_documented_fields() {
    let (app, token) = TestApp::with_courses([course("c", 0)]).await;
    assert_eq!(
        app.get(&token, "/api/v1/courses/c").await.json(),
        json!({
            "data": {
                "slug": "c", "title": "Title of c", "tagline": "A tagline", "language": "en",
                "publishedAt": "2026-01-02T03:04:05.678Z", "hidden": false, "accessMode": "free",
                "modules": [
                    { "number": 1, "title": "First", "summary": "About First" },
                    { "number": 2, "title": "Second", "summary": "About Second" },
                ],
            },
        })
    );
}

#[tokio::test]
async fn unset_fields_are_null() {
    let (app, token) =
        TestApp::with_courses([Course { published_at: None, access_mode: None, modules: vec![], ..course("c", 0) }])
            .await;
    let data = app.get(&token, "/api/v1/courses/c").await.data();
    assert_eq!((&data["publishedAt"], &data["accessMode"], &data["modules"]), (&json!(null), &json!(null), &json!([])));
}

#[tokio::test]
async fn impossible_slugs_return_404() {
    let (app, token) = TestApp::with_courses([course("a", 0)]).await;
    let long = "x".repeat(10_000);
    for segment in ["A", "a%20", "a%2Fb", "%2F", "%", "%zz", "%FF", "%00", "a%0A", ".", "..", &long] {
        app.get(&token, &format!("/api/v1/courses/{segment}")).await.failure(404, "not_found");
    }
}

#[tokio::test]
async fn slug_of_another_account_looks_unknown() {
    let app = TestApp::new().await;
    app.put([course("mine", 0), for_other(course("theirs", 0)), course("shared", 0)]).await;
    app.put([for_other(Course { title: "Not yours".to_owned(), ..course("shared", 1) })]).await;
    let token = app.key(OWNER, "read:courses").await;

    let mut other = app.get(&token, "/api/v1/courses/theirs").await;
    let mut unknown = app.get(&token, "/api/v1/courses/nobody").await;
    other.failure(404, "not_found");
    other.headers.remove("x-request-id").unwrap();
    unknown.headers.remove("x-request-id").unwrap();
    assert_eq!((other.status, other.headers, other.body), (unknown.status, unknown.headers, unknown.body));

    assert_eq!(app.get(&token, "/api/v1/courses/shared").await.data()["title"], "Title of shared");
    let stranger = app.key(OTHER, "read:courses").await;
    assert_eq!(app.get(&stranger, "/api/v1/courses/shared").await.data()["title"], "Not yours");
}

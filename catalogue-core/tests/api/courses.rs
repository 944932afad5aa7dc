//! The list of courses (section 4.2, sections 2.2, 2.5 and 8; decisions R7 to R9, A7, A9, A18).

use catalogue_core::Course;
use serde_json::{Value, json};

use crate::app::{OTHER, OWNER, TestApp, course, for_other};

fn slugs(json: &Value) -> Vec<&str> {
    json["data"].as_array().unwrap().iter().map(|item| item["slug"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn items_have_documented_fields() {
    let draft = Course { published_at: None, hidden: true, modules: vec![], ..course("draft", 0) };
    let (app, token) = TestApp::with_courses([course("live", 1), draft]).await;
    assert_eq!(
        app.get(&token, "/api/v1/courses").await.json(),
        json!({
            "data": [
                {
                    "slug": "live", "title": "Title of live", "language": "en",
                    "publishedAt": "2026-01-02T03:04:05.678Z", "hidden": false, "moduleCount": 2,
                },
                {
                    "slug": "draft", "title": "Title of draft", "language": "en",
                    "publishedAt": null, "hidden": true, "moduleCount": 0,
                },
            ],
            "meta": { "nextCursor": null },
        })
    );
}

#[tokio::test]
async fn cursor_continues_the_list_with_any_limit() {
    for (count, limit, items, next_limit, rest) in [
        // The default limit is 50.
        (51, "", 50, "", &["c00"][..]),
        // The maximum is 100.
        (101, "limit=100", 100, "", &["c00"]),
        // A full page can be the last one.
        (4, "limit=2", 2, "&limit=2", &["c01", "c00"]),
        (9, "limit=3", 3, "&limit=100", &["c05", "c04", "c03", "c02", "c01", "c00"]),
    ] {
        let (app, token) = TestApp::with_courses((0..count).map(|n| course(&format!("c{n:02}"), n))).await;
        let first = app.get(&token, &format!("/api/v1/courses?{limit}")).await.json();
        assert_eq!(slugs(&first).len(), items, "{limit}");
        let cursor = first["meta"]["nextCursor"].as_str().unwrap();
        let second = app.get(&token, &format!("/api/v1/courses?cursor={cursor}{next_limit}")).await.json();
        assert_eq!(slugs(&second), rest, "{limit}");
        assert_eq!(second["meta"], json!({ "nextCursor": null }), "{limit}");
    }
}

#[tokio::test]
async fn invalid_limit_is_refused_and_never_clamped() {
    let (app, token) = TestApp::with_courses((0..9).map(|n| course(&format!("c{n}"), n))).await;
    for (query, reason) in [
        ("limit=-1", "not_an_integer"),
        ("limit=%2B5", "not_an_integer"),
        ("limit=+5", "not_an_integer"),
        ("limit=1.5", "not_an_integer"),
        ("limit=", "not_an_integer"),
        ("limit", "not_an_integer"),
        ("limit=ten", "not_an_integer"),
        ("limit=%205", "not_an_integer"),
        ("limit=5+", "not_an_integer"),
        ("limit=0x5", "not_an_integer"),
        ("limit=1e1", "not_an_integer"),
        ("limit=%D9%A1", "not_an_integer"),
        ("limit=%EF%BC%95", "not_an_integer"),
        ("limit=%FF", "not_an_integer"),
        ("limit=0", "out_of_range"),
        ("limit=00", "out_of_range"),
        ("limit=101", "out_of_range"),
        ("limit=256", "out_of_range"),
        ("limit=99999999999999999999999999", "out_of_range"),
        ("limit=5&limit=5", "repeated"),
        ("limit=x&%6Cimit=5", "repeated"),
    ] {
        let mut details = json!({ "parameter": "limit", "reason": reason });
        if reason == "out_of_range" {
            details["minimum"] = 1.into();
            details["maximum"] = 100.into();
        }
        let response = app.get(&token, &format!("/api/v1/courses?{query}")).await;
        assert_eq!(response.failure(400, "invalid_request"), details, "{query}");
        assert!(response.json()["error"]["message"].as_str().unwrap().contains("`limit`"), "{query}");
    }
    for (query, items) in [
        ("limit=1", 1),
        ("limit=50", 9),
        ("limit=100", 9),
        ("limit=007", 7),
        ("%6C%69%6D%69%74x=1&%6C%69%6D%69%74=5", 5),
        ("limit=5&other=1&other=2", 5),
        ("&&limit=5&", 5),
    ] {
        let page = app.get(&token, &format!("/api/v1/courses?{query}")).await.json();
        assert_eq!(slugs(&page).len(), items, "{query}");
    }
}

#[tokio::test]
async fn invalid_cursor_is_refused() {
    let (app, token) = TestApp::with_courses((0..3).map(|n| course(&format!("c{n}"), n))).await;
    app.put((0..3).map(|n| for_other(course(&format!("c{n}"), n)))).await;
    let first = app.get(&token, "/api/v1/courses?limit=1").await.json();
    let good = first["meta"]["nextCursor"].as_str().unwrap();
    let stranger = app.key(OTHER, "read:courses").await;
    let theirs = app.get(&stranger, "/api/v1/courses?limit=1").await.json();
    let theirs = theirs["meta"]["nextCursor"].as_str().unwrap();

    let invalid = json!({ "parameter": "cursor", "reason": "invalid" });
    for bad in
        ["", "x", "%00", "%FF", "null", &format!("{good}x"), &good[1..], &format!("{good}="), theirs, &"A".repeat(513)]
    {
        let response = app.get(&token, &format!("/api/v1/courses?cursor={bad}")).await;
        assert_eq!(response.failure(400, "invalid_request"), invalid, "{bad}");
        assert!(response.json()["error"]["message"].as_str().unwrap().contains("`cursor`"), "{bad}");
    }
    let both = app.get(&token, "/api/v1/courses?cursor=bad&limit=0").await;
    assert_eq!(both.failure(400, "invalid_request")["parameter"], "limit");
    let twice = app.get(&token, &format!("/api/v1/courses?cursor={good}&cursor={good}")).await;
    assert_eq!(twice.failure(400, "invalid_request"), json!({ "parameter": "cursor", "reason": "repeated" }));
}

#[tokio::test]
async fn page_links_to_the_next_page() {
    let app = TestApp::at("https://api.example.com/v1/catalogue", "/docs").await;
    app.put((0..4).map(|n| course(&format!("c{n}"), n))).await;
    let token = app.key(OWNER, "read:courses").await;

    let first = app.get(&token, "/v1/catalogue/courses?limit=2&other=1").await;
    let cursor = first.json()["meta"]["nextCursor"].as_str().unwrap().to_owned();
    let next = format!("https://api.example.com/v1/catalogue/courses?cursor={cursor}&limit=2");
    assert_eq!(first.header("link"), Some(&*format!(r#"<{next}>; rel="next""#)));

    let second = app.get(&token, next.strip_prefix("https://api.example.com").unwrap()).await;
    assert_eq!(slugs(&second.json()), ["c1", "c0"]);
    assert_eq!(second.header("link"), None);
}

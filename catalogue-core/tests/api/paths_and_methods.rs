//! Paths and methods (decisions R1 to R5, R10), and ignored bodies.

use http::Method;

use crate::app::{OWNER, TestApp, course};

const KNOWN: [&str; 10] = [
    "/api/v1/me",
    "/api/v1/courses",
    "/api/v1/courses/anything",
    "/api/v1/openapi.json",
    "/docs",
    "/docs/",
    "/docs/openapi.json",
    "/docs/openapi-3.0.json",
    "/docs/openapi.md",
    "/docs/llms.txt",
];

#[tokio::test]
async fn paths_outside_api_and_unknown_documents_return_404() {
    let app = TestApp::new().await;
    for method in [Method::GET, Method::POST, Method::OPTIONS] {
        for path in ["/", "/api", "/api/v1x", "/apis/v1/me", "/doc", "/docs2", "/api/v2/me", "//api/v1/me", "*"] {
            app.send(method.clone(), path, &[]).await.failure(404, "not_found");
        }
    }
    for path in ["/docs/nothing", "/docs//", "/docs/openapi.json/"] {
        app.send(Method::GET, path, &[]).await.failure(404, "not_found");
    }
}

#[tokio::test]
async fn unknown_api_paths_require_a_token() {
    let app = TestApp::new().await;
    let token = app.key(OWNER, "read:profile").await;
    let bearer = format!("Bearer {token}");
    for method in [Method::GET, Method::HEAD, Method::POST, Method::OPTIONS] {
        for path in [
            "/api/v1",
            "/api/v1/",
            "/api/v1/me/",
            "/api/v1//me",
            "/api/v1/courses/",
            "/api/v1/courses/a/b",
            "/api/v1/Me",
        ] {
            let without = app.send(method.clone(), path, &[("authorization", "Bearer invalid")]).await;
            assert_eq!(without.status, 401, "{method} {path}");
            let with = app.send(method.clone(), path, &[("authorization", &bearer)]).await;
            assert_eq!(with.status, 404, "{method} {path}");
        }
    }
}

#[tokio::test]
async fn head_returns_headers_of_get() {
    let (app, token) = TestApp::with_courses([course("anything", 0)]).await;
    let headers = [("authorization", &*format!("Bearer {token}")), ("x-request-id", "same")];
    let mut paths = KNOWN.to_vec();
    paths.extend(["/api/v1/courses?limit=0", "/api/v1/courses/nobody", "/elsewhere"]);
    for path in paths {
        let get = app.send(Method::GET, path, &headers).await;
        let head = app.send(Method::HEAD, path, &headers).await;
        assert_eq!((head.status, &head.headers), (get.status, &get.headers), "{path}");
        assert_eq!(head.header("content-length"), Some(&*get.body.len().to_string()), "{path}");
        assert!(head.body.is_empty() && !get.body.is_empty(), "{path}");
    }
}

#[tokio::test]
async fn options_returns_allowed_methods_without_token() {
    let app = TestApp::new().await;
    for path in KNOWN {
        let response = app.send(Method::OPTIONS, path, &[]).await;
        assert_eq!(response.status, 204, "{path}");
        assert_eq!(response.header("allow"), Some("GET, HEAD, OPTIONS"));
        assert!(response.body.is_empty());
    }
}

#[tokio::test]
async fn other_methods_are_refused_before_authentication() {
    let app = TestApp::new().await;
    for method in ["POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "get", "BREW"] {
        for path in KNOWN {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let response = app.send(method, path, &[("authorization", "Bearer invalid")]).await;
            response.failure(405, "invalid_request");
            assert_eq!(response.header("allow"), Some("GET, HEAD, OPTIONS"));
        }
    }
}

#[tokio::test]
async fn request_body_is_ignored() {
    let (app, token) = TestApp::with_courses([]).await;
    for body in ["", "{}", "not json", "limit=0"] {
        let request = http::Request::get("/api/v1/courses").header("authorization", format!("Bearer {token}"));
        let request = request.header("content-type", "application/json").body(body).unwrap();
        assert_eq!(app.catalogue.call(request).await.status(), 200, "{body:?}");
    }
}

#[tokio::test]
async fn only_path_of_absolute_target_is_used() {
    let (app, token) = TestApp::with_courses([]).await;
    app.get(&token, "http://anything.example/api/v1/me").await.data();
}

#[tokio::test]
async fn catalogue_is_mounted_at_the_url_paths() {
    for (base, docs, me, document) in [
        ("https://api.example.com/api/v1", "https://example.com/docs", "/api/v1/me", "/docs/llms.txt"),
        ("/v1/", "/v1/docs/", "/v1/me", "/v1/docs/llms.txt"),
        ("/", "/docs", "/me", "/docs/llms.txt"),
        ("/docs/api", "/docs", "/docs/api/me", "/docs/llms.txt"),
        ("/api/v1", "/", "/api/v1/me", "/llms.txt"),
    ] {
        let app = TestApp::at(base, docs).await;
        let token = app.key(OWNER, "read:profile").await;
        assert_eq!(app.get(&token, me).await.status, 200, "{base} {docs}");
        assert_eq!(app.send(Method::GET, me, &[]).await.status, 401, "{base} {docs}");
        assert_eq!(app.send(Method::GET, document, &[]).await.status, 200, "{base} {docs}");
        let [operation, document] = [me.replace("me", "nothing"), document.replace("llms.txt", "nothing")];
        assert_eq!(app.send(Method::GET, &operation, &[]).await.status, 401, "{base} {docs}");
        assert_eq!(app.send(Method::GET, &document, &[]).await.status, 404, "{base} {docs}");
    }
}

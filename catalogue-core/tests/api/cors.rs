//! Cross-origin requests (decision A17).

use http::Method;

use crate::app::{OWNER, TestApp, TestResponse};

const APP: &str = "https://app.example.com";
const EXPOSED: &str = "ETag, Link, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id";

async fn preflight(app: &TestApp, path: &str, origin: &str) -> TestResponse {
    let headers = [("origin", origin), ("access-control-request-method", "GET")];
    app.send(Method::OPTIONS, path, &headers).await
}

#[tokio::test]
async fn any_origin_may_read_the_documents() {
    let app = TestApp::new().await;
    for path in ["/docs", "/docs/openapi.json", "/docs/openapi.md", "/docs/llms.txt", "/docs/nothing"] {
        let response = app.send(Method::GET, path, &[("origin", APP)]).await;
        assert_eq!(response.header("access-control-allow-origin"), Some("*"), "{path}");
        assert_eq!(response.header("access-control-expose-headers"), Some(EXPOSED));
        assert_eq!(response.header("access-control-allow-credentials"), None);
    }
    let response = preflight(&app, "/docs/openapi.json", APP).await;
    assert_eq!(response.status, 204);
    assert_eq!(response.header("access-control-allow-methods"), Some("GET, HEAD, OPTIONS"));
}

#[tokio::test]
async fn unlisted_origin_cannot_call_the_api() {
    let (app, token) = TestApp::with_courses([]).await;
    let headers = [("authorization", &*format!("Bearer {token}")), ("origin", APP)];
    let response = app.send(Method::GET, "/api/v1/me", &headers).await;
    assert_eq!(response.header("access-control-allow-origin"), None);
    assert_eq!(response.header("vary"), Some("Authorization, Accept-Encoding"));
    assert_eq!(preflight(&app, "/api/v1/me", APP).await.header("access-control-allow-origin"), None);
}

#[tokio::test]
async fn listed_origin_may_call_the_api() {
    let app = TestApp::with(|builder| builder.cors_origins(["HTTPS://App.Example.com", "http://localhost:3000"])).await;
    let bearer = format!("Bearer {}", app.key(OWNER, "read:courses").await);
    for origin in [APP, "http://localhost:3000"] {
        let response = preflight(&app, "/api/v1/courses", origin).await;
        assert_eq!(response.status, 204);
        assert_eq!(response.header("access-control-allow-origin"), Some(origin));
        assert_eq!(response.header("access-control-allow-methods"), Some("GET, HEAD, OPTIONS"));
        assert!(response.header("access-control-allow-headers").unwrap().contains("Authorization"));
        assert_eq!(response.header("access-control-max-age"), Some("600"));
        assert_eq!(response.header("access-control-allow-credentials"), None);

        // Other requests do not get the response to a preflight.
        for (method, header) in
            [(Method::OPTIONS, ("accept", "*/*")), (Method::GET, ("access-control-request-method", "GET"))]
        {
            let response = app.send(method, "/api/v1/courses", &[("origin", origin), header]).await;
            assert_eq!(response.header("access-control-allow-methods"), None);
        }

        // Failures have the headers too, so that a script can read the reason.
        let refused = app.send(Method::GET, "/api/v1/courses", &[("origin", origin)]).await;
        refused.failure(401, "unauthorized");
        assert_eq!(refused.header("access-control-allow-origin"), Some(origin));
        assert_eq!(refused.header("access-control-expose-headers"), Some(EXPOSED));
        assert!(refused.headers.get_all("vary").iter().any(|value| value == "Origin"));

        let list = app.send(Method::GET, "/api/v1/courses", &[("origin", origin), ("authorization", &bearer)]).await;
        assert_eq!((list.status.as_u16(), list.header("access-control-expose-headers")), (200, Some(EXPOSED)));
    }
    for stranger in ["https://evil.example.com", "null", "https://app.example.com.evil.example"] {
        let response = preflight(&app, "/api/v1/courses", stranger).await;
        assert_eq!(response.header("access-control-allow-origin"), None);
        assert!(response.headers.get_all("vary").iter().any(|value| value == "Origin"));
    }
}

//! Decision A17.

use http::Method;

use crate::house::{Answer, House, OWNER};

const APP: &str = "https://app.example.com";
const EXPOSED: &str = "ETag, Link, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id";

async fn preflight(house: &House, path: &str, origin: &str) -> Answer {
    let headers = [("origin", origin), ("access-control-request-method", "GET")];
    house.send(Method::OPTIONS, path, &headers).await
}

#[tokio::test]
async fn any_origin_may_read_the_documents() {
    let house = House::new().await;
    for path in ["/docs", "/docs/openapi.json", "/docs/openapi.md", "/docs/llms.txt", "/docs/nothing"] {
        let answer = house.send(Method::GET, path, &[("origin", APP)]).await;
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{path}");
        assert_eq!(answer.header("access-control-expose-headers"), Some(EXPOSED));
        assert_eq!(answer.header("access-control-allow-credentials"), None);
    }
    let answer = preflight(&house, "/docs/openapi.json", APP).await;
    assert_eq!(answer.status, 204);
    assert_eq!(answer.header("access-control-allow-methods"), Some("GET, HEAD, OPTIONS"));
}

#[tokio::test]
async fn no_origin_may_call_the_api_unless_it_is_listed() {
    let house = House::new().await;
    let token = house.key(OWNER, "read:courses").await;
    let headers = [("authorization", &*format!("Bearer {token}")), ("origin", APP)];
    let answer = house.send(Method::GET, "/api/v1/me", &headers).await;
    assert_eq!(answer.header("access-control-allow-origin"), None);
    assert_eq!(answer.header("vary"), Some("Authorization, Accept-Encoding"));
    assert_eq!(preflight(&house, "/api/v1/me", APP).await.header("access-control-allow-origin"), None);
}

#[tokio::test]
async fn origins_are_listed_in_any_case() {
    let house = House::with(|builder| builder.cors_origins(["HTTPS://App.Example.com"])).await;
    let answer = preflight(&house, "/api/v1/courses", APP).await;
    assert_eq!(answer.header("access-control-allow-origin"), Some(APP));
    assert_eq!(answer.header("access-control-max-age"), Some("600"));
}

#[tokio::test]
async fn a_listed_origin_may_call_the_api() {
    let house = House::with(|builder| builder.cors_origins([APP, "http://localhost:3000"])).await;
    for origin in [APP, "http://localhost:3000"] {
        let answer = preflight(&house, "/api/v1/courses", origin).await;
        assert_eq!(answer.status, 204);
        assert_eq!(answer.header("access-control-allow-origin"), Some(origin));
        assert_eq!(answer.header("access-control-allow-methods"), Some("GET, HEAD, OPTIONS"));
        assert!(answer.header("access-control-allow-headers").unwrap().contains("Authorization"));
        assert_eq!(answer.header("access-control-allow-credentials"), None);

        // On failures too, or a script could not read why.
        let refused = house.send(Method::GET, "/api/v1/courses", &[("origin", origin)]).await;
        refused.failure(401, "unauthorized");
        assert_eq!(refused.header("access-control-allow-origin"), Some(origin));
        assert_eq!(refused.header("access-control-expose-headers"), Some(EXPOSED));
        assert!(refused.headers.get_all("vary").iter().any(|value| value == "Origin"));
    }
    for stranger in ["https://evil.example.com", "null", "https://app.example.com.evil.example"] {
        let answer = preflight(&house, "/api/v1/courses", stranger).await;
        assert_eq!(answer.header("access-control-allow-origin"), None);
        assert!(answer.headers.get_all("vary").iter().any(|value| value == "Origin"));
    }
}

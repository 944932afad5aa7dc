//! Rate limits of credentials: decision A2, sentence by sentence, and their position in the order of decision R2.

use catalogue_core::auth::{Identity, Scopes};
use catalogue_core::limit::{Acquired, RateLimit, RateLimitKey, RateLimiter};
use catalogue_core::{AccountId, Catalogue, async_trait};
use catalogue_storage_tests::intercept::Intercept;
use http::{Method, Request};
use serde_json::json;

use crate::app::{BASE, OTHER, OWNER, TestApp, TestResponse, course};
use crate::clock::Clock;

const COURSES: &str = "/api/v1/courses";

/// Paths of all operations, below the base URL.
const PATHS: [&str; 4] = ["/me", "/courses", "/courses/a", "/openapi.json"];

/// Creates an app with two courses that allows each credential `requests` requests a minute, its clock, and a key.
async fn limited(requests: u32) -> (TestApp, Clock, String) {
    let clock = Clock::new();
    let app = TestApp::with(|builder| builder.rate_limiter(clock.limiter(requests, 60))).await;
    app.put([course("a", 0), course("b", 1)]).await;
    let token = app.key(OWNER, "read:courses").await;
    (app, clock, token)
}

/// Returns the rate-limit fields of a response.
fn fields(response: &TestResponse) -> (Option<&str>, Option<&str>) {
    (response.header("ratelimit-policy"), response.header("ratelimit"))
}

#[tokio::test]
async fn requests_are_unlimited_by_default() {
    let (app, token) = TestApp::with_courses([]).await;
    for _ in 0..1_000 {
        let response = app.get(&token, COURSES).await;
        assert_eq!((response.status.as_u16(), fields(&response)), (200, (None, None)));
    }
}

#[tokio::test]
async fn successful_responses_report_remaining_requests() {
    let (app, clock, token) = limited(600).await;
    let policy = Some(r#""default";q=600;w=60"#);
    for (advance, state) in [
        (0, r#""default";r=599;t=60"#),
        (1, r#""default";r=598;t=60"#),
        (999, r#""default";r=597;t=59"#),
        (58_999, r#""default";r=596;t=1"#),
        (1, r#""default";r=599;t=60"#),
    ] {
        clock.advance(advance);
        assert_eq!(fields(&app.get(&token, COURSES).await), (policy, Some(state)));
    }
}

#[tokio::test]
async fn exceeded_limit_returns_429_until_window_ends() {
    let (app, clock, token) = limited(2).await;
    for _ in 0..2 {
        app.get(&token, COURSES).await.data();
    }
    for (advance, after) in [(0, "60"), (20_500, "40"), (39_499, "1")] {
        clock.advance(advance);
        let refused = app.get(&token, COURSES).await;
        let seconds: u32 = after.parse().unwrap();
        assert_eq!(refused.failure(429, "rate_limited"), json!({ "retryAfterSeconds": seconds }));
        assert_eq!(refused.header("retry-after"), Some(after));
        let state = format!(r#""default";r=0;t={after}"#);
        assert_eq!(fields(&refused), (Some(r#""default";q=2;w=60"#), Some(&*state)));
    }
    clock.advance(1);
    app.get(&token, COURSES).await.data();
}

/// If a 304 counted, it would use up the only request of its window.
#[tokio::test]
async fn client_that_only_revalidates_is_never_limited() {
    let (app, clock, token) = limited(1).await;
    for path in PATHS {
        let path = format!("{BASE}{path}");
        let first = app.get(&token, &path).await;
        clock.advance(60_000);
        for _ in 0..100 {
            let unchanged = app.revalidate(&token, &path, first.header("etag").unwrap()).await;
            assert_eq!((unchanged.status.as_u16(), fields(&unchanged)), (304, (None, None)), "{path}");
            clock.advance(7);
        }
        clock.advance(60_000);
    }
    assert_eq!(app.get(&token, COURSES).await.header("ratelimit"), Some(r#""default";r=0;t=60"#));
}

/// `*` matches every existing resource. Only rendering the response shows whether the resource exists.
#[tokio::test]
async fn if_none_match_star_is_not_refunded() {
    let (app, clock, token) = limited(2).await;
    for path in PATHS {
        let path = format!("{BASE}{path}");
        for _ in 0..2 {
            let unchanged = app.revalidate(&token, &path, "*").await;
            assert_eq!((unchanged.status.as_u16(), fields(&unchanged)), (304, (None, None)), "{path}");
        }
        app.revalidate(&token, &path, "*").await.failure(429, "rate_limited");
        clock.advance(60_000);
    }
}

/// Without revisions, even a 304 needs a read of the courses.
#[tokio::test]
async fn not_modified_response_is_charged_without_revisions() {
    let (mut app, clock, token) = limited(2).await;
    let storage = Intercept::new(app.storage.clone()).without_revisions();
    app.catalogue = Catalogue::with_api_keys(storage).rate_limiter(clock.limiter(2, 60)).build().unwrap();
    let first = app.get(&token, COURSES).await;
    let tag = first.header("etag").unwrap();
    assert_eq!(app.revalidate(&token, COURSES, tag).await.status, 304);
    app.revalidate(&token, COURSES, tag).await.failure(429, "rate_limited");
}

#[tokio::test]
async fn head_is_charged_like_get() {
    let (app, _, one) = limited(10).await;
    let other = app.key(OWNER, "read:courses").await;
    for _ in 0..3 {
        let [get, head] = [(Method::GET, &one), (Method::HEAD, &other)].map(async |(method, token)| {
            let headers = [("authorization", &*format!("Bearer {token}")), ("x-request-id", "same")];
            app.send(method, COURSES, &headers).await.headers
        });
        assert_eq!(get.await, head.await);
    }
    assert_eq!(app.get(&other, COURSES).await.header("ratelimit"), Some(r#""default";r=6;t=60"#));
}

#[tokio::test]
async fn only_operations_are_charged() {
    let (app, _, token) = limited(4).await;
    for (path, remaining) in [("/me", 3), ("/courses", 2), ("/courses/a", 1), ("/openapi.json", 0)] {
        let response = app.get(&token, &format!("{BASE}{path}")).await;
        let state = format!(r#""default";r={remaining};t=60"#);
        assert_eq!((response.status.as_u16(), response.header("ratelimit")), (200, Some(&*state)), "{path}");
    }
    for path in ["/docs", "/docs/openapi.json", "/docs/openapi.md", "/docs/llms.txt"] {
        let document = app.get(&token, path).await;
        assert_eq!((document.status.as_u16(), fields(&document)), (200, (None, None)), "{path}");
    }
}

#[tokio::test]
async fn credentials_have_independent_allowances() {
    let (app, ..) = limited(1).await;
    for account in [OWNER, OWNER, OTHER] {
        let token = app.key(account, "read:courses").await;
        app.get(&token, COURSES).await.data();
        app.get(&token, COURSES).await.failure(429, "rate_limited");
    }
}

/// Two accounts of a host application whose credential ids are unique only within an account.
#[tokio::test]
async fn equal_credential_ids_of_accounts_are_independent() {
    let (app, ..) = limited(1).await;
    let call = async |account, id| {
        let identity = Identity::api_key(AccountId::new(account), id, Scopes::from_names(["read:courses"]));
        app.catalogue.call_as(identity, Request::get(COURSES).body(()).unwrap()).await.status().as_u16()
    };
    assert_eq!([call("a", "bc").await, call("ab", "c").await, call("b", "bc").await], [200; 3]);
    assert_eq!(call("a", "bc").await, 429);
}

/// Failures of earlier checks cost nothing, and do not change when no request remains (decision R2).
#[tokio::test]
async fn limit_is_checked_between_parameters_and_storage() {
    let (app, _, token) = limited(1).await;
    let narrow = app.key(OWNER, "read:profile").await;
    let refused_before = async |token: &str, narrow: &str| {
        let bearer = format!("Bearer {token}");
        let authorized = [("authorization", &*bearer)];
        [
            app.send(Method::POST, COURSES, &authorized).await.failure(405, "invalid_request"),
            app.get("unknown", COURSES).await.failure(401, "unauthorized"),
            app.get(token, "/api/v1/nothing").await.failure(404, "not_found"),
            app.get(token, "/nowhere").await.failure(404, "not_found"),
            app.get(narrow, COURSES).await.failure(403, "insufficient_scope"),
            app.get(token, "/api/v1/courses?limit=0").await.failure(400, "invalid_request"),
            app.get(token, "/api/v1/courses?cursor=x").await.failure(400, "invalid_request"),
            app.send(Method::OPTIONS, COURSES, &authorized).await.status.as_u16().into(),
        ]
    };
    let before = refused_before(&token, &narrow).await;
    assert_eq!(app.get(&token, COURSES).await.header("ratelimit"), Some(r#""default";r=0;t=60"#));
    assert_eq!(before, refused_before(&token, &narrow).await);
    // The course is not looked up.
    app.get(&token, "/api/v1/courses/nobody").await.failure(429, "rate_limited");
}

#[tokio::test]
async fn missing_course_is_charged_without_fields() {
    let (app, _, token) = limited(2).await;
    let absent = app.get(&token, "/api/v1/courses/nobody").await;
    absent.failure(404, "not_found");
    assert_eq!(fields(&absent), (None, None));
    assert_eq!(app.get(&token, COURSES).await.header("ratelimit"), Some(r#""default";r=0;t=60"#));
}

/// A response is cached without the rate-limit fields of its first caller.
#[tokio::test]
async fn cached_responses_and_etags_exclude_limits() {
    let (app, clock, token) = limited(10).await;
    let without = TestApp::new().await;
    let first = app.get(&token, COURSES).await;
    clock.advance(1_000);
    let second = app.get(&app.key(OWNER, "read:courses").await, COURSES).await;
    assert_eq!(app.catalogue.page_cache().hits, 1);
    assert_eq!((&first.body, first.header("etag")), (&second.body, second.header("etag")));
    assert_eq!(fields(&first), fields(&second));
    assert_eq!(app.get(&token, COURSES).await.header("ratelimit"), Some(r#""default";r=8;t=59"#));
    let unlimited = without.get(&without.key(OWNER, "read:profile").await, "/api/v1/openapi.json").await;
    let limited = app.get(&token, "/api/v1/openapi.json").await;
    assert_eq!(unlimited.header("etag"), limited.header("etag"));
}

/// An asynchronous limiter whose counter is unavailable.
#[derive(Debug)]
struct UnavailableLimiter(RateLimit);

#[async_trait]
impl RateLimiter for UnavailableLimiter {
    fn limit(&self) -> RateLimit {
        self.0
    }

    async fn acquire(&self, _: RateLimitKey<'_>) -> Acquired {
        tokio::task::yield_now().await;
        Acquired::Uncounted
    }

    async fn refund(&self, _: RateLimitKey<'_>, _: u64) {
        unreachable!("nothing was acquired")
    }
}

#[tokio::test]
async fn uncounted_request_passes_without_fields() {
    let limiter = UnavailableLimiter(RateLimit::new(1, std::time::Duration::from_secs(1)).unwrap());
    let app = TestApp::with(|builder| builder.rate_limiter(std::sync::Arc::new(limiter))).await;
    let token = app.key(OWNER, "read:courses").await;
    for (none_match, status) in [("\"other\"", 200), ("*", 304), ("\"other\"", 200)] {
        let response = app.revalidate(&token, COURSES, none_match).await;
        assert_eq!((response.status.as_u16(), fields(&response)), (status, (None, None)));
    }
}

//! Failures of the storage (section 7; decisions A13 and A19): the response is correct or a 500, and the next response is
//! correct. Also requests that wait for a storage, and the order of authenticators.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering};

use catalogue_core::auth::{Authenticator, BearerToken, CredentialKind, Identity, Refusal, Scopes, Verdict};
use catalogue_core::storage::{MemoryStorage, StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Catalogue, Course, Operation, async_trait};
use catalogue_storage_tests::intercept::{Intercept, Point};
use http::{Method, Request};
use serde_json::json;

use crate::app::{BASE, OWNER, TestApp, TestResponse, course};

const CAUSE: &str = "no route to db.internal, SELECT secret FROM table";

/// Paths below the base URL: each operation, and some resources that do not exist.
const PATHS: [&str; 7] =
    ["/me", "/courses", "/courses?limit=1", "/courses/a", "/courses/none", "/openapi.json", "/none"];

/// The way in which a storage fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FailureMode {
    Error,
    Panic,
}

impl FailureMode {
    fn fail(self) -> Result<(), StorageError> {
        match self {
            Self::Error => Err(StorageError::new(StorageErrorKind::Unavailable, CAUSE).with_source(CAUSE)),
            Self::Panic => panic!("{CAUSE}"),
        }
    }
}

/// Creates a catalogue whose storage fails at every call.
pub(crate) fn failing_catalogue(mode: FailureMode) -> Catalogue {
    let storage = Intercept::new(MemoryStorage::new()).on_call(move |_, _| async move { mode.fail() });
    Catalogue::with_api_keys(storage).build().unwrap()
}

/// A storage with courses, a token of each kind, and the issuer that signed one of them.
struct Fixture {
    app: TestApp,
    tokens: Vec<String>,
    #[cfg(feature = "oauth")]
    issuer: crate::signed_tokens::issuer::Issuer,
}

/// A catalogue, and the number of its storage's calls up to and including the one that fails; none fails if it is 0.
type Failing = (Catalogue, Arc<AtomicIsize>);

/// Method, path and entity tag of a request; the tag `""` stands for the current tag of the path.
type SentRequest<'p> = (Method, &'p str, Option<&'static str>);

impl Fixture {
    async fn new() -> Self {
        let app = TestApp::new().await;
        let first = Course { title: "SELECT secret FROM table".to_owned(), ..course("a", 0) };
        app.put([first, course("b", 1), course("c", 2)]).await;
        // Known to no authenticator.
        let mut tokens = vec!["unknown".to_owned()];
        for kind in [CredentialKind::ApiKey, CredentialKind::OAuth] {
            tokens.push(app.credential(kind, OWNER, "read:courses", None).await.0);
        }
        #[cfg(feature = "oauth")]
        let issuer = crate::signed_tokens::issuer::Issuer::new();
        #[cfg(feature = "oauth")]
        tokens.push(issuer.token(&serde_json::json!({})));
        Self {
            app,
            tokens,
            #[cfg(feature = "oauth")]
            issuer,
        }
    }

    /// Creates a catalogue over the fixture, whose storage can fail in `mode`.
    fn catalogue(&self, mode: FailureMode, has_revisions: bool) -> Failing {
        let calls_left = Arc::<AtomicIsize>::default();
        let left = Arc::clone(&calls_left);
        let storage = Intercept::new(self.app.storage.clone()).on_call(move |_, point| {
            // A list passes all rows on before it can fail.
            let fails = point == Point::Done && left.fetch_sub(1, Ordering::SeqCst) == 1;
            async move { if fails { mode.fail() } else { Ok(()) } }
        });
        // Without revisions, responses are not cached.
        let storage = if has_revisions { storage } else { storage.without_revisions() };
        let builder = Catalogue::with_api_keys(storage);
        #[cfg(feature = "oauth")]
        let builder = builder.or_authenticator(self.issuer.tokens());
        (builder.build().unwrap(), calls_left)
    }

    /// Replaces the revision, so that cached responses are no longer valid.
    async fn touch(&self) {
        for tagline in ["another", "A tagline"] {
            self.app.put([Course { tagline: tagline.to_owned(), ..course("b", 1) }]).await;
        }
    }

    /// Sends a request whose storage call number `at` fails, and then sends it again. Returns whether a call failed.
    async fn try_one(
        &self,
        healthy: &Catalogue,
        (catalogue, calls_left): &Failing,
        token: &str,
        sent: &SentRequest<'_>,
        at: isize,
    ) -> bool {
        let (method, path, tag) = sent;
        let mut tag = tag.map(str::to_owned);
        if tag.as_deref() == Some("") {
            let response = send(healthy, token, method, path, None).await;
            tag = Some(response.header("etag").unwrap_or("\"none\"").to_owned());
        }
        let respond = async |catalogue| send(catalogue, token, method, path, tag.as_deref()).await;
        let expected = respond(healthy).await;
        let is_correct = |response: &TestResponse| {
            let tags = [response, &expected].map(|response| response.headers.get("etag"));
            (response.status, &response.body) == (expected.status, &expected.body) && tags[0] == tags[1]
        };
        calls_left.store(at, Ordering::SeqCst);
        let response = respond(catalogue).await;
        let has_failed = calls_left.swap(0, Ordering::SeqCst) <= 0;
        let context = format!("{sent:?} with a failure at {at}: {response:?} and not {expected:?}");
        // The first call looks up the token: if it fails, only a 500 is correct.
        let is_failure = has_failed && response.status == 500;
        assert!(is_failure || is_correct(&response) && !(has_failed && at == 1), "{context}");
        if is_failure {
            assert_internal_error(&response, method);
        }
        assert!(is_correct(&respond(catalogue).await), "the next request after {context}");
        has_failed
    }
}

/// Asserts a 500 that does not reveal its cause.
fn assert_internal_error(response: &TestResponse, method: &Method) {
    assert_eq!(response.header("x-request-id"), Some("req-1"));
    if method == Method::HEAD {
        assert!(response.body.is_empty());
        return;
    }
    assert_eq!(response.failure(500, "internal_error"), json!({ "requestId": "req-1" }));
    let body = String::from_utf8_lossy(&response.body);
    assert!(!body.contains("db.internal") && !body.contains("SELECT"), "{body}");
}

/// Returns the path of the second page.
async fn further_page(healthy: &Catalogue, token: &str) -> String {
    let first = send(healthy, token, &Method::GET, "/api/v1/courses?limit=1", None).await;
    let link = first.header("link").and_then(|link| link.split_once("/api/v1")?.1.split_once('>'));
    format!("/api/v1{}", link.map_or("/courses?limit=2", |(next, _)| next))
}

async fn send(catalogue: &Catalogue, token: &str, method: &Method, path: &str, tag: Option<&str>) -> TestResponse {
    let mut request = Request::builder().method(method).uri(path).header("x-request-id", "req-1");
    request = request.header("authorization", format!("Bearer {token}"));
    if let Some(tag) = tag {
        request = request.header("if-none-match", tag);
    }
    TestResponse::from(catalogue.call(request.body(()).unwrap()).await)
}

/// Covers every operation, missing resources, and callers of each kind, with and without a cached response.
#[tokio::test]
async fn single_failure_causes_500_or_correct_response() {
    let fixture = Fixture::new().await;
    for (mode, has_revisions) in [
        (FailureMode::Error, true),
        (FailureMode::Panic, true),
        (FailureMode::Error, false),
        (FailureMode::Panic, false),
    ] {
        let (healthy, failing) = (fixture.catalogue(mode, has_revisions).0, fixture.catalogue(mode, has_revisions));
        for token in &fixture.tokens {
            let next = further_page(&healthy, token).await;
            let paths = PATHS.map(|path| format!("/api/v1{path}"));
            let ways = [(Method::GET, None), (Method::HEAD, None), (Method::GET, Some("")), (Method::GET, Some("*"))];
            for (path, (method, tag)) in
                paths.iter().chain([&next]).flat_map(|path| ways.clone().map(|way| (path, way)))
            {
                let sent = (method, &**path, tag);
                for warm in [false, true] {
                    let mut at = 1;
                    loop {
                        fixture.touch().await;
                        if warm {
                            send(&failing.0, token, &sent.0, path, None).await;
                        }
                        if !fixture.try_one(&healthy, &failing, token, &sent, at).await {
                            break;
                        }
                        at += 1;
                    }
                    assert!(at > 1, "{sent:?} does not use the storage");
                }
            }
        }
    }
}

#[test]
fn every_operation_has_a_path() {
    for operation in Operation::ALL {
        let template = operation.path().replace("{slug}", "a");
        assert!(!template.contains('{') && PATHS.contains(&&*template), "add a path of {operation:?} to PATHS");
    }
}

#[tokio::test]
async fn failing_storage_does_not_affect_documents() {
    let catalogue = failing_catalogue(FailureMode::Panic);
    assert_eq!(get(&catalogue, "/docs/openapi.json").await.status, 200);
}

/// Sends a request to a catalogue.
async fn get(catalogue: &Catalogue, path: &str) -> TestResponse {
    let request = Request::get(path).header("authorization", "Bearer token").body(()).unwrap();
    crate::app::send(catalogue, BASE, request).await
}

/// The waiting request holds the only permit until it is dropped.
#[tokio::test]
async fn request_beyond_in_flight_limit_is_refused_immediately() {
    let hanging = Intercept::new(MemoryStorage::new()).on_call(|_, _| pending());
    let catalogue = Catalogue::with_api_keys(hanging).max_in_flight(1).build().unwrap();
    tokio::select! {
        biased;
        _ = get(&catalogue, "/api/v1/me") => unreachable!("the storage never returns"),
        refused = get(&catalogue, "/api/v1/me") => {
            assert_eq!(refused.failure(429, "rate_limited"), json!({ "retryAfterSeconds": 1 }));
            assert_eq!(refused.header("retry-after"), Some("1"));
        }
    }
    assert_eq!(get(&catalogue, "/docs/llms.txt").await.status, 200);
}

#[derive(Debug)]
struct FixedVerdict(Verdict);

#[async_trait]
impl Authenticator for FixedVerdict {
    async fn authenticate(&self, _: BearerToken<'_>) -> Result<Verdict, StorageError> {
        Ok(self.0.clone())
    }
}

#[tokio::test]
async fn authenticators_are_tried_in_order() {
    let known = Identity::api_key(AccountId::new("acc"), "key", Scopes::from_names(["read:courses"]));
    let accepted = || Verdict::Accepted(known.clone());
    for (first, second, status) in [
        (Verdict::Unrecognized, accepted(), 200),
        (Verdict::Refused(Refusal::Expired, None), accepted(), 401),
        (Verdict::Unrecognized, Verdict::Unrecognized, 401),
    ] {
        let builder = Catalogue::builder(MemoryStorage::new(), FixedVerdict(first.clone()));
        let catalogue = builder.or_authenticator(FixedVerdict(second.clone())).build().unwrap();
        let response = get(&catalogue, "/api/v1/me").await;
        assert_eq!(response.status, status, "{first:?}, {second:?}");
        if status == 401 {
            let reason = if first == second { "invalid" } else { "expired" };
            assert_eq!(response.failure(401, "unauthorized"), json!({ "reason": reason }));
        }
    }
}

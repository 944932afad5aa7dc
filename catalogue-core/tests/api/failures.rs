//! Failures of the storage (section 7; decisions A13 and A19).

use std::future::pending;

use catalogue_core::auth::{Authenticator, BearerToken, Identity, Scopes, Verdict};
use catalogue_core::storage::{
    AtRevision, CourseRows, CourseStorage, PageRequest, Position, Revision, StorageError, StorageErrorKind,
};
use catalogue_core::{AccountId, Catalogue, Course, CourseDetail, Timestamp, async_trait};
use catalogue_storage_conformance::sample;
use http::Request;
use serde_json::json;

use crate::app::{BASE, TestResponse, send};

const CAUSE: &str = "no route to db.internal, SELECT secret FROM table";

/// The way in which a storage fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FailureMode {
    Error,
    Panic,
}

impl FailureMode {
    pub(crate) fn fail<T>(self) -> Result<T, StorageError> {
        match self {
            Self::Error => Err(StorageError::new(StorageErrorKind::Unavailable, CAUSE).with_source(CAUSE)),
            Self::Panic => panic!("{CAUSE}"),
        }
    }
}

#[derive(Debug)]
pub(crate) struct FailingStorage(pub(crate) FailureMode);

#[async_trait]
impl CourseStorage for FailingStorage {
    /// Fails after the first row.
    async fn list_courses(
        &self,
        _: &AccountId,
        _: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Revision>, StorageError> {
        let first = Course { title: "SELECT secret FROM table".to_owned(), ..sample::course("acc", "first") };
        let _ = rows.push(sample::row(&first), || Position { created_at: Timestamp::MIN, slug: "first".to_owned() });
        self.0.fail()
    }

    async fn find_course(&self, _: &AccountId, _: &str) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
        self.0.fail()
    }
}

#[async_trait]
impl Authenticator for FailingStorage {
    async fn authenticate(&self, _: BearerToken<'_>) -> Result<Verdict, StorageError> {
        self.0.fail()
    }
}

/// Accepts every token.
#[derive(Debug)]
struct AcceptAll;

#[async_trait]
impl Authenticator for AcceptAll {
    async fn authenticate(&self, _: BearerToken<'_>) -> Result<Verdict, StorageError> {
        let scopes = Scopes::from_names(["read:courses"]);
        Ok(Verdict::Accepted(Identity::api_key(AccountId::new("acc"), "key", scopes)))
    }
}

/// Never returns.
#[derive(Debug)]
struct HangingAuthenticator;

#[async_trait]
impl Authenticator for HangingAuthenticator {
    async fn authenticate(&self, _: BearerToken<'_>) -> Result<Verdict, StorageError> {
        pending().await
    }
}

fn request(path: &str) -> Request<()> {
    Request::get(path).header("authorization", "Bearer token").header("x-request-id", "req-1").body(()).unwrap()
}

async fn get(catalogue: &Catalogue, path: &str) -> TestResponse {
    send(catalogue, BASE, request(path)).await
}

async fn assert_internal_error(catalogue: &Catalogue, path: &str) {
    let response = get(catalogue, path).await;
    assert_eq!(response.failure(500, "internal_error"), json!({ "requestId": "req-1" }));
    assert_eq!(response.header("x-request-id"), Some("req-1"));
    let body = String::from_utf8_lossy(&response.body);
    assert!(!body.contains("db.internal") && !body.contains("SELECT"));
}

#[tokio::test]
async fn failing_course_storage_returns_internal_error() {
    for mode in [FailureMode::Error, FailureMode::Panic] {
        let catalogue = Catalogue::builder(FailingStorage(mode), AcceptAll).build().unwrap();
        for path in ["/api/v1/courses", "/api/v1/courses/c"] {
            assert_internal_error(&catalogue, path).await;
        }
    }
}

#[tokio::test]
async fn failing_authenticator_returns_internal_error() {
    for mode in [FailureMode::Error, FailureMode::Panic] {
        let catalogue = Catalogue::builder(FailingStorage(mode), FailingStorage(mode)).build().unwrap();
        for path in ["/api/v1/me", "/api/v1/courses", "/api/v1/nothing"] {
            assert_internal_error(&catalogue, path).await;
        }
    }
}

#[tokio::test]
async fn failing_storage_does_not_affect_documents() {
    let catalogue =
        Catalogue::builder(FailingStorage(FailureMode::Panic), FailingStorage(FailureMode::Panic)).build().unwrap();
    assert_eq!(get(&catalogue, "/docs/openapi.json").await.status, 200);
}

#[tokio::test]
async fn dropped_request_does_not_affect_others() {
    let catalogue = Catalogue::builder(FailingStorage(FailureMode::Error), HangingAuthenticator).build().unwrap();
    let call = catalogue.call(request("/api/v1/me"));
    tokio::select! {
        biased;
        _ = call => unreachable!("the authenticator never returns"),
        () = async {} => {}
    }
    assert_eq!(get(&catalogue, "/docs/llms.txt").await.status, 200);
}

#[tokio::test]
async fn request_beyond_in_flight_limit_is_refused_immediately() {
    let catalogue =
        Catalogue::builder(FailingStorage(FailureMode::Error), HangingAuthenticator).max_in_flight(1).build().unwrap();
    let waiting = catalogue.call(request("/api/v1/me"));
    tokio::select! {
        biased;
        _ = waiting => unreachable!("the authenticator never returns"),
        refused = get(&catalogue, "/api/v1/me") => {
            assert_eq!(refused.failure(429, "rate_limited"), json!({ "retryAfterSeconds": 1 }));
            assert_eq!(refused.header("retry-after"), Some("1"));
        }
    }
    // A dropped request frees its permit.
    assert_eq!(get(&catalogue, "/docs/llms.txt").await.status, 200);
}

#[tokio::test]
async fn authenticators_are_tried_in_order() {
    use catalogue_core::auth::Refusal;

    #[derive(Debug)]
    struct FixedVerdict(Verdict);

    #[async_trait]
    impl Authenticator for FixedVerdict {
        async fn authenticate(&self, _: BearerToken<'_>) -> Result<Verdict, StorageError> {
            Ok(self.0.clone())
        }
    }

    for (first, status) in [(Verdict::Unrecognized, 200), (Verdict::Refused(Refusal::Expired, None), 401)] {
        let catalogue = Catalogue::builder(FailingStorage(FailureMode::Error), FixedVerdict(first))
            .or_authenticator(AcceptAll)
            .build()
            .unwrap();
        assert_eq!(get(&catalogue, "/api/v1/me").await.status, status);
    }
    let unrecognized =
        Catalogue::builder(FailingStorage(FailureMode::Error), FixedVerdict(Verdict::Unrecognized)).build().unwrap();
    let refused = get(&unrecognized, "/api/v1/me").await;
    assert_eq!(refused.failure(401, "unauthorized"), json!({ "reason": "invalid" }));
}

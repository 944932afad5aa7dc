//! Failures of single storage calls: the response is correct or a 500, and the next response is correct (decision A19).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use catalogue_core::auth::{Credential, CredentialKind, TokenDigest};
use catalogue_core::storage::{
    AtRevision, CourseRows, CourseStorage, CredentialStorage, MemoryStorage, PageRequest, Revision, StorageError,
};
use catalogue_core::{AccountId, Catalogue, Course, CourseDetail, Operation, async_trait};
use http::{Method, Request};

use crate::app::{OWNER, TestApp, TestResponse, course};
use crate::failures::FailureMode;

/// Paths below the base URL: each operation, and some resources that do not exist.
const PATHS: [&str; 7] =
    ["/me", "/courses", "/courses?limit=1", "/courses/a", "/courses/none", "/openapi.json", "/none"];

/// A memory storage with one call that fails.
#[derive(Debug)]
struct FailsOnce {
    memory: MemoryStorage,
    mode: FailureMode,
    /// Number of calls up to and including the one that fails; 0 if none fails.
    left: AtomicUsize,
    failed: AtomicBool,
    /// Whether the storage has revisions, without which responses are not cached.
    has_revisions: bool,
}

impl FailsOnce {
    fn maybe_fail<T>(&self, found: T) -> Result<T, StorageError> {
        if self.left.fetch_sub(1, Ordering::SeqCst) != 1 {
            return Ok(found);
        }
        self.failed.store(true, Ordering::SeqCst);
        self.mode.fail()
    }

    fn filter_revision(&self, revision: Option<Revision>) -> Option<Revision> {
        revision.filter(|_| self.has_revisions)
    }
}

#[async_trait]
impl CourseStorage for FailsOnce {
    /// Passes all rows on before it can fail.
    async fn list_courses(
        &self,
        account: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Revision>, StorageError> {
        let revision = self.memory.list_courses(account, page, rows).await?;
        self.maybe_fail(self.filter_revision(revision))
    }

    async fn find_course(
        &self,
        account: &AccountId,
        slug: &str,
    ) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
        let AtRevision { value, revision } = self.memory.find_course(account, slug).await?;
        self.maybe_fail(AtRevision { value, revision: self.filter_revision(revision) })
    }

    async fn revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        let revision = self.memory.revision(account).await?;
        self.maybe_fail(self.filter_revision(revision))
    }
}

#[async_trait]
impl CredentialStorage for FailsOnce {
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        let mut found = self.memory.find_credential(digest).await?;
        if let Some(credential) = &mut found {
            credential.revision = self.filter_revision(credential.revision);
        }
        self.maybe_fail(found)
    }

    async fn is_revoked(&self, digest: &TokenDigest) -> Result<Option<bool>, StorageError> {
        let revoked = self.memory.is_revoked(digest).await?;
        self.maybe_fail(revoked)
    }
}

/// A storage with courses, a token of each kind, and the issuer that signed one of them.
struct Fixture {
    app: TestApp,
    tokens: Vec<String>,
    #[cfg(feature = "oauth")]
    issuer: crate::signed_tokens::issuer::Issuer,
}

/// A catalogue, and its storage.
type Failing = (Catalogue, Arc<FailsOnce>);

/// Method, path and entity tag of a request; the tag `""` stands for the current tag of the path.
type SentRequest<'p> = (Method, &'p str, Option<&'static str>);

impl Fixture {
    async fn new() -> Self {
        let app = TestApp::new().await;
        app.put([course("a", 0), course("b", 1), course("c", 2)]).await;
        let mut tokens = Vec::new();
        for kind in [CredentialKind::ApiKey, CredentialKind::OAuth] {
            tokens.push(app.credential(kind, OWNER, "read:courses", None).await.0);
        }
        // Known to no authenticator.
        tokens.push("unknown".to_owned());
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
        let (left, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let storage = Arc::new(FailsOnce { memory: self.app.storage.clone(), mode, left, failed, has_revisions });
        let builder = Catalogue::with_api_keys(Arc::clone(&storage));
        #[cfg(feature = "oauth")]
        let builder = builder.or_authenticator(self.issuer.tokens());
        (builder.build().unwrap(), storage)
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
        (catalogue, storage): &Failing,
        token: &str,
        sent: &SentRequest<'_>,
        at: usize,
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
        storage.failed.store(false, Ordering::SeqCst);
        storage.left.store(at, Ordering::SeqCst);
        let response = respond(catalogue).await;
        storage.left.store(0, Ordering::SeqCst);
        let has_failed = storage.failed.load(Ordering::SeqCst);
        let context = format!("{sent:?}, {storage:?} at {at}: {response:?} and not {expected:?}");
        // The first call looks up the token: if it fails, only a 500 is correct.
        let is_failure = has_failed && response.status == 500;
        assert!(is_failure || is_correct(&response) && !(has_failed && at == 1), "{context}");
        assert!(is_correct(&respond(catalogue).await), "the next request after {context}");
        has_failed
    }
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

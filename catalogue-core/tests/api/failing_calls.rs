//! Whichever call to the storage fails, the answer is the true one or a 500, and the next one is true (decision A19).

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

/// What is asked for, below the base address: each operation, also what is not there.
const PATHS: [&str; 7] =
    ["/me", "/courses", "/courses?limit=1", "/courses/a", "/courses/none", "/openapi.json", "/none"];

/// A memory storage of whose calls one fails.
#[derive(Debug)]
struct FailsOnce {
    memory: MemoryStorage,
    mode: FailureMode,
    /// How many calls it is until that one, counting it.
    left: AtomicUsize,
    failed: AtomicBool,
    /// Whether it keeps revisions, and so whether answers are kept.
    revised: bool,
}

impl FailsOnce {
    fn maybe_fail<T>(&self, found: T) -> Result<T, StorageError> {
        if self.left.fetch_sub(1, Ordering::SeqCst) != 1 {
            return Ok(found);
        }
        self.failed.store(true, Ordering::SeqCst);
        self.mode.fail()
    }

    fn of_revision(&self, revision: Option<Revision>) -> Option<Revision> {
        revision.filter(|_| self.revised)
    }
}

#[async_trait]
impl CourseStorage for FailsOnce {
    /// Fails when all rows were handed over.
    async fn list_courses(
        &self,
        account: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Revision>, StorageError> {
        let revision = self.memory.list_courses(account, page, rows).await?;
        self.maybe_fail(self.of_revision(revision))
    }

    async fn find_course(
        &self,
        account: &AccountId,
        slug: &str,
    ) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
        let AtRevision { value, revision } = self.memory.find_course(account, slug).await?;
        self.maybe_fail(AtRevision { value, revision: self.of_revision(revision) })
    }

    async fn revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        let revision = self.memory.revision(account).await?;
        self.maybe_fail(self.of_revision(revision))
    }
}

#[async_trait]
impl CredentialStorage for FailsOnce {
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        let mut found = self.memory.find_credential(digest).await?;
        if let Some(credential) = &mut found {
            credential.revision = self.of_revision(credential.revision);
        }
        self.maybe_fail(found)
    }

    async fn is_revoked(&self, digest: &TokenDigest) -> Result<Option<bool>, StorageError> {
        let revoked = self.memory.is_revoked(digest).await?;
        self.maybe_fail(revoked)
    }
}

/// A storage's contents, a token of each kind, and what takes those that no storage keeps.
struct Fixture {
    app: TestApp,
    tokens: Vec<String>,
    #[cfg(feature = "oauth")]
    issuer: crate::signed_tokens::issuer::Issuer,
}

/// A catalogue, and its storage.
type Failing = (Catalogue, Arc<FailsOnce>);

/// A request: its method, its path, and the tag that comes with it, if any: `""` stands for that of its answer.
type Sent<'p> = (Method, &'p str, Option<&'static str>);

impl Fixture {
    async fn new() -> Self {
        let app = TestApp::new().await;
        app.put([course("a", 0), course("b", 1), course("c", 2)]).await;
        let mut tokens = Vec::new();
        for kind in [CredentialKind::ApiKey, CredentialKind::OAuth] {
            tokens.push(app.credential(kind, OWNER, "read:courses", None).await.0);
        }
        // Nobody's.
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

    /// A catalogue over them, whose storage fails in that way when it is told to.
    fn catalogue(&self, mode: FailureMode, revised: bool) -> Failing {
        let (left, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let storage = Arc::new(FailsOnce { memory: self.app.storage.clone(), mode, left, failed, revised });
        let builder = Catalogue::with_api_keys(Arc::clone(&storage));
        #[cfg(feature = "oauth")]
        let builder = builder.or_authenticator(self.issuer.tokens());
        (builder.build().unwrap(), storage)
    }

    /// Replaces the revision, so that no kept answer counts any more.
    async fn touch(&self) {
        for tagline in ["another", "A tagline"] {
            self.app.put([Course { tagline: tagline.to_owned(), ..course("b", 1) }]).await;
        }
    }

    /// One request whose call of that number fails, and then once more. Says whether it has such a call.
    async fn try_one(
        &self,
        sound: &Catalogue,
        (catalogue, storage): &Failing,
        token: &str,
        sent: &Sent<'_>,
        at: usize,
    ) -> bool {
        let (method, path, tag) = sent;
        let mut tag = tag.map(str::to_owned);
        if tag.as_deref() == Some("") {
            let response = send(sound, token, method, path, None).await;
            tag = Some(response.header("etag").unwrap_or("\"none\"").to_owned());
        }
        let ask = async |catalogue| send(catalogue, token, method, path, tag.as_deref()).await;
        let expected = ask(sound).await;
        let is_true = |response: &TestResponse| {
            let tags = [response, &expected].map(|response| response.headers.get("etag"));
            (response.status, &response.body) == (expected.status, &expected.body) && tags[0] == tags[1]
        };
        storage.failed.store(false, Ordering::SeqCst);
        storage.left.store(at, Ordering::SeqCst);
        let response = ask(catalogue).await;
        storage.left.store(0, Ordering::SeqCst);
        let has_failed = storage.failed.load(Ordering::SeqCst);
        let context = format!("{sent:?}, {storage:?} at {at}: {response:?} and not {expected:?}");
        // The first call looks the token up: without it nobody is known.
        let is_failure = has_failed && response.status == 500;
        assert!(is_failure || is_true(&response) && !(has_failed && at == 1), "{context}");
        assert!(is_true(&ask(catalogue).await), "then {context}");
        has_failed
    }
}

/// The path of the page after the first.
async fn further_page(sound: &Catalogue, token: &str) -> String {
    let first = send(sound, token, &Method::GET, "/api/v1/courses?limit=1", None).await;
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

/// Each operation, also for what is not there, and by who has the answer; where it was asked before and where not.
#[tokio::test]
async fn whichever_call_fails_an_answer_is_true_or_a_500_and_the_next_one_is_true() {
    let fixture = Fixture::new().await;
    for (mode, revised) in [
        (FailureMode::Error, true),
        (FailureMode::Panic, true),
        (FailureMode::Error, false),
        (FailureMode::Panic, false),
    ] {
        let (sound, failing) = (fixture.catalogue(mode, revised).0, fixture.catalogue(mode, revised));
        for token in &fixture.tokens {
            let next = further_page(&sound, token).await;
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
                        if !fixture.try_one(&sound, &failing, token, &sent, at).await {
                            break;
                        }
                        at += 1;
                    }
                    assert!(at > 1, "{sent:?} is answered without the storage");
                }
            }
        }
    }
}

#[test]
fn each_operation_has_a_path() {
    for operation in Operation::ALL {
        let template = operation.path().replace("{slug}", "a");
        assert!(!template.contains('{') && PATHS.contains(&&*template), "add one of {operation:?} to PATHS");
    }
}

//! The page cache: cached responses need no read of courses, and are never stale (invariant 11).

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use catalogue_core::admin::{Account, AdminStorage, NewCredential};
use catalogue_core::auth::{Credential, Identity, Issued, Scopes, TokenDigest};
use catalogue_core::storage::{
    Actor, AtRevision, CourseRows, CourseStorage, CredentialStorage, KeyStorage, MemoryStorage, PageRequest, Revision,
    StorageError,
};
use catalogue_core::{AccountId, Catalogue, CatalogueBuilder, Course, CourseDetail, async_trait};
use http::{Request, Response};
use tokio::sync::Semaphore;

use crate::app::{OTHER, OWNER, TestApp, course, for_other};

/// A storage that counts its calls. It can delay lists, change courses during a list, and omit revisions.
#[derive(Debug)]
struct CountingStorage {
    memory: MemoryStorage,
    lists: AtomicUsize,
    details: AtomicUsize,
    revisions: AtomicUsize,
    credentials: AtomicUsize,
    has_revisions: bool,
    /// Each permit allows one read of a list.
    gate: Semaphore,
    /// Whether a course of [`OWNER`] changes between the next list's read of the courses and of the revision.
    disturb: AtomicBool,
}

impl CountingStorage {
    fn new(memory: MemoryStorage) -> Self {
        Self {
            memory,
            lists: AtomicUsize::new(0),
            details: AtomicUsize::new(0),
            revisions: AtomicUsize::new(0),
            credentials: AtomicUsize::new(0),
            has_revisions: true,
            gate: Semaphore::new(Semaphore::MAX_PERMITS),
            disturb: AtomicBool::new(false),
        }
    }

    /// Returns the current revision, if revisions are enabled.
    async fn revision_of(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        if self.has_revisions { self.memory.revision(account).await } else { Ok(None) }
    }

    fn reads(&self) -> usize {
        self.lists.load(Ordering::SeqCst) + self.details.load(Ordering::SeqCst)
    }
}

async fn retitle(memory: &MemoryStorage, slug: &str, title: &str) {
    let mut import = memory.begin_import().await.unwrap();
    import.put_course(&Course { title: title.to_owned(), ..course(slug, 0) }).await.unwrap();
    import.commit().await.unwrap();
}

#[async_trait]
impl CourseStorage for CountingStorage {
    async fn list_courses(
        &self,
        account: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Revision>, StorageError> {
        self.lists.fetch_add(1, Ordering::SeqCst);
        self.gate.acquire().await.unwrap().forget();
        self.memory.list_courses(account, page, rows).await?;
        if self.disturb.swap(false, Ordering::SeqCst) {
            retitle(&self.memory, "c", "Disturbed").await;
        }
        self.revision_of(account).await
    }

    async fn find_course(
        &self,
        account: &AccountId,
        slug: &str,
    ) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
        self.details.fetch_add(1, Ordering::SeqCst);
        let value = self.memory.find_course(account, slug).await?.value;
        Ok(AtRevision { value, revision: self.revision_of(account).await? })
    }

    async fn revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        self.revisions.fetch_add(1, Ordering::SeqCst);
        self.revision_of(account).await
    }
}

#[async_trait]
impl CredentialStorage for CountingStorage {
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        self.credentials.fetch_add(1, Ordering::SeqCst);
        let mut found = self.memory.find_credential(digest).await?;
        if let Some(credential) = found.as_mut().filter(|_| !self.has_revisions) {
            credential.revision = None;
        }
        Ok(found)
    }
}

/// A catalogue over one course each of [`OWNER`] and [`OTHER`], its counting storage, and a key of [`OWNER`].
struct Fixture {
    catalogue: Catalogue,
    storage: Arc<CountingStorage>,
    memory: MemoryStorage,
    token: String,
}

async fn fixture(
    change: impl FnOnce(&mut CountingStorage),
    settings: impl FnOnce(CatalogueBuilder) -> CatalogueBuilder,
) -> Fixture {
    let app = TestApp::new().await;
    app.put([course("c", 0), for_other(course("c", 0))]).await;
    let token = app.key(OWNER, "read:courses").await;
    let mut counting = CountingStorage::new(app.storage.clone());
    change(&mut counting);
    let storage = Arc::new(counting);
    let catalogue = settings(Catalogue::with_api_keys(Arc::clone(&storage))).build().unwrap();
    Fixture { catalogue, storage, memory: app.storage, token }
}

impl Fixture {
    async fn get(&self, path: &str, tag: Option<&str>) -> Response<bytes::Bytes> {
        let mut request = Request::get(path).header("authorization", format!("Bearer {}", self.token));
        if let Some(tag) = tag {
            request = request.header("if-none-match", tag);
        }
        self.catalogue.call(request.body(()).unwrap()).await
    }

    async fn tag(&self, path: &str) -> String {
        self.get(path, None).await.headers()["etag"].to_str().unwrap().to_owned()
    }
}

const PATHS: [&str; 3] = ["/api/v1/courses", "/api/v1/courses?limit=1", "/api/v1/courses/c"];

#[tokio::test]
async fn cached_response_costs_one_lookup() {
    let fixture = fixture(|_| {}, |builder| builder).await;
    for path in PATHS {
        let first = fixture.get(path, None).await;
        let (reads, revisions) = (fixture.storage.reads(), fixture.storage.revisions.load(Ordering::SeqCst));
        let credentials = fixture.storage.credentials.load(Ordering::SeqCst);
        let second = fixture.get(path, None).await;
        assert_eq!(second.body(), first.body());
        assert_eq!(second.headers()["etag"], first.headers()["etag"]);
        assert_eq!(fixture.storage.reads(), reads, "{path}");
        assert_eq!(fixture.storage.revisions.load(Ordering::SeqCst), revisions, "{path}");
        assert_eq!(fixture.storage.credentials.load(Ordering::SeqCst), credentials + 1, "{path}");
    }
    let statistics = fixture.catalogue.page_cache();
    assert_eq!((statistics.hits, statistics.misses), (3, 3));
}

#[tokio::test]
async fn mistyped_key_never_reaches_the_storage() {
    let mut fixture = fixture(|_| {}, |builder| builder).await;
    fixture.token.replace_range(10..11, if fixture.token.as_bytes()[10] == b'a' { "b" } else { "a" });
    assert_eq!(fixture.get("/api/v1/me", None).await.status(), 401);
    assert_eq!(fixture.storage.credentials.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn revalidation_reads_no_courses_without_cache() {
    let fixture = fixture(|_| {}, |builder| builder.page_cache(0)).await;
    for path in PATHS {
        let tag = fixture.tag(path).await;
        let reads = fixture.storage.reads();
        assert_eq!(fixture.get(path, Some(&tag)).await.status(), 304, "{path}");
        assert_eq!(fixture.storage.reads(), reads, "{path}");
    }
}

#[tokio::test]
async fn if_none_match_star_depends_on_existence() {
    let fixture = fixture(|_| {}, |builder| builder).await;
    assert_eq!(fixture.get("/api/v1/courses/c", Some("*")).await.status(), 304);
    assert_eq!(fixture.get("/api/v1/courses/nobody", Some("*")).await.status(), 404);
}

#[tokio::test]
async fn change_appears_in_the_next_response() {
    let fixture = fixture(|_| {}, |builder| builder).await;
    for path in PATHS {
        let tag = fixture.tag(path).await;
        let title = format!("Changed before {path}");
        retitle(&fixture.memory, "c", &title).await;
        let next = fixture.get(path, Some(&tag)).await;
        assert_eq!(next.status(), 200, "{path}");
        assert!(String::from_utf8_lossy(next.body()).contains(&title), "{path}");
    }
}

#[tokio::test]
async fn change_does_not_affect_other_accounts() {
    let fixture = fixture(|_| {}, |builder| builder).await;
    let tag = fixture.tag("/api/v1/courses").await;
    fixture.memory.remove_course(&AccountId::new(OTHER), "c").await.unwrap();
    assert_eq!(fixture.get("/api/v1/courses", Some(&tag)).await.status(), 304);
}

/// A new account with the id of a removed one gets no response of the removed account.
#[tokio::test]
async fn responses_of_removed_account_never_return() {
    let mut fixture = fixture(|_| {}, |builder| builder).await;
    let mut tags = Vec::new();
    for path in PATHS {
        tags.push(fixture.tag(path).await);
    }
    let owner = AccountId::new(OWNER);
    fixture.memory.remove_account(&owner).await.unwrap().unwrap();
    for (path, tag) in PATHS.into_iter().zip(&tags) {
        assert_eq!(fixture.get(path, Some(tag)).await.status(), 401, "{path}");
    }
    let mut import = fixture.memory.begin_import().await.unwrap();
    import.put_account(&Account { id: owner.clone(), name: String::new(), email: String::new() }).await.unwrap();
    import.commit().await.unwrap();
    let (token, key) = NewCredential::api_key(owner, "another", Scopes::from_names(["read:courses"]));
    fixture.memory.create_key(&key, &Actor::OPERATOR).await.unwrap();
    token.expose().clone_into(&mut fixture.token);
    for (path, tag) in PATHS.into_iter().zip(&tags) {
        let next = fixture.get(path, Some(tag)).await;
        let is_empty = next.status() == 200 && next.body().starts_with(br#"{"data":[]"#);
        assert!(is_empty || path.ends_with("/c") && next.status() == 404, "{path}: {next:?}");
    }
}

#[tokio::test]
async fn concurrent_change_prevents_caching() {
    let fixture = fixture(|_| {}, |builder| builder).await;
    fixture.storage.disturb.store(true, Ordering::SeqCst);
    let disturbed = fixture.tag("/api/v1/courses").await;
    let next = fixture.get("/api/v1/courses", Some(&disturbed)).await;
    assert!(String::from_utf8_lossy(next.body()).contains("Disturbed"));
    // The response was not cached under the previous revision either.
    assert_eq!(fixture.catalogue.page_cache().hits, 0);
}

#[tokio::test]
async fn disabled_cache_renders_every_response() {
    let fixture = fixture(|_| {}, |builder| builder.page_cache(0)).await;
    for reads in 1..=3 {
        fixture.get("/api/v1/courses", None).await;
        assert_eq!(fixture.storage.reads(), reads);
    }
    assert_eq!(fixture.catalogue.page_cache().bytes, 0);
}

#[tokio::test]
async fn storage_without_revisions_disables_the_cache() {
    let fixture = fixture(|storage| storage.has_revisions = false, |builder| builder).await;
    for path in PATHS {
        let tag = fixture.tag(path).await;
        let reads = fixture.storage.reads();
        assert_eq!(fixture.get(path, Some(&tag)).await.status(), 304, "{path}");
        assert_eq!(fixture.storage.reads(), reads + 1, "{path}");
    }
    assert_eq!(fixture.catalogue.page_cache(), Default::default());
}

#[tokio::test]
async fn concurrent_requests_share_one_rendering() {
    let fixture = fixture(|storage| storage.gate = Semaphore::new(0), |builder| builder).await;
    let mut many: Vec<_> = (0..10).map(|_| Box::pin(fixture.get("/api/v1/courses", None))).collect();
    wait(&mut many).await;
    assert_eq!(fixture.storage.lists.load(Ordering::SeqCst), 1);
    assert_eq!(fixture.catalogue.in_flight(), 10);
    // If each request read the list, nine would get no permit.
    fixture.storage.gate.add_permits(1);
    for call in many {
        assert_eq!(call.await.status(), 200);
    }
    assert_eq!(fixture.catalogue.in_flight(), 0);
    assert_eq!(fixture.storage.lists.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn waiter_renders_when_leader_is_dropped() {
    let fixture = fixture(|storage| storage.gate = Semaphore::new(0), |builder| builder).await;
    let mut calls = [(); 2].map(|()| Box::pin(fixture.get("/api/v1/courses", None)));
    wait(&mut calls).await;
    let [first, second] = calls;
    drop(first);
    fixture.storage.gate.add_permits(2);
    assert_eq!(second.await.status(), 200);
}

/// Polls each call once, and asserts that it waits.
async fn wait<F: Future<Output = Response<bytes::Bytes>>>(calls: &mut [Pin<Box<F>>]) {
    for call in calls {
        tokio::select! {
            biased;
            _ = call => panic!("the call ended, although no permit was added"),
            () = async {} => {}
        }
    }
}

#[tokio::test]
async fn waiters_render_concurrently_when_response_is_not_cacheable() {
    let fixture = fixture(
        |storage| {
            storage.gate = Semaphore::new(0);
            storage.disturb = AtomicBool::new(true);
        },
        |builder| builder,
    )
    .await;
    let mut leader = [Box::pin(fixture.get("/api/v1/courses", None))];
    wait(&mut leader).await;
    let mut others: Vec<_> = (0..9).map(|_| Box::pin(fixture.get("/api/v1/courses", None))).collect();
    wait(&mut others).await;
    assert_eq!(fixture.storage.lists.load(Ordering::SeqCst), 1);
    // The courses change while the leader reads, so its response cannot be cached for the others.
    fixture.storage.gate.add_permits(1);
    let [leader] = leader;
    assert_eq!(leader.await.status(), 200);
    // Each waiter wakes the next one.
    for _ in 0..9 {
        wait(&mut others).await;
    }
    assert_eq!(fixture.storage.lists.load(Ordering::SeqCst), 10, "all waiters read at the same time");
    fixture.storage.gate.add_permits(9);
    for call in others {
        assert_eq!(call.await.status(), 200);
    }
}

#[tokio::test]
async fn page_cache_stays_within_its_capacity() {
    const BOUND: usize = 64 << 10;

    let app = TestApp::with(|builder| builder.page_cache(BOUND)).await;
    app.put((0..100).map(|n| course(&format!("course-{n:03}"), n))).await;
    let token = app.key(OWNER, "read:courses").await;
    for limit in 1..=100 {
        app.get(&token, &format!("/api/v1/courses?limit={limit}")).await.data();
        let bytes = app.catalogue.page_cache().bytes;
        assert!(bytes <= BOUND as u64, "{bytes} at limit {limit}");
    }
    assert!(app.catalogue.page_cache().bytes > 0);
}

#[tokio::test]
async fn cache_weight_includes_the_caller() {
    let weight = async |caller: Identity| {
        let catalogue = Catalogue::with_api_keys(MemoryStorage::new()).build().unwrap();
        let request = Request::get("/api/v1/me").body(()).unwrap();
        assert_eq!(catalogue.call_as(caller, request).await.status(), 200);
        catalogue.page_cache().bytes
    };
    let session = |account: &str, id: &str, scope: &str| {
        Identity::session(AccountId::new(account), id, Scopes::from_names([scope]))
    };
    let client = |name: &str| {
        let issued = Issued::new("issuer", Some(name.into()));
        Identity::issued(AccountId::new("a"), &TokenDigest::from_bytes([0; 32]), Scopes::default(), issued)
    };
    let bytes = weight(session("a", "b", "c")).await;
    // Such an entry uses about 800 bytes of the process's memory, measured with 200,000 entries.
    assert!((800..1_000).contains(&bytes), "the overhead is not counted: {bytes}");
    let long = "x".repeat(1_000);
    let client = weight(client(&long)).await - weight(client("x")).await;
    assert!((1_123..1_126).contains(&client), "{client}: the name's bytes and an eighth more");
    // Both bodies have the same length; the cache key counts the id twice and the account once.
    let account = weight(session(&long, "b", "c")).await;
    let id = weight(session("a", &long, "c")).await - account;
    assert!((1_123..1_126).contains(&id), "{id}");
    assert!(weight(session("a", "b", &long)).await.abs_diff(account) <= 1);
}

#[tokio::test]
async fn cache_weight_includes_the_cursor() {
    let weight = async |slug: &str| {
        let app = TestApp::new().await;
        app.put([course(slug, 1), course("last", 0)]).await;
        let token = app.key(OWNER, "read:courses").await;
        let first = app.get(&token, "/api/v1/courses?limit=1").await.json();
        let before = app.catalogue.page_cache().bytes;
        let cursor = first["meta"]["nextCursor"].as_str().unwrap();
        app.get(&token, &format!("/api/v1/courses?cursor={cursor}")).await.data();
        app.catalogue.page_cache().bytes - before
    };
    assert!(weight(&"x".repeat(100)).await >= weight("x").await + 99);
}

#[tokio::test]
async fn responses_are_cached_with_custom_authenticator() {
    use catalogue_core::auth::StoredCredentials;

    let app = TestApp::new().await;
    app.put([course("c", 0)]).await;
    let token = app.key(OWNER, "read:courses").await;
    let storage = Arc::new(CountingStorage::new(app.storage.clone()));
    let catalogue =
        Catalogue::builder(Arc::clone(&storage), StoredCredentials::new(app.storage.clone())).build().unwrap();
    for _ in 0..2 {
        let request = Request::get("/api/v1/courses").header("authorization", format!("Bearer {token}"));
        assert_eq!(catalogue.call(request.body(()).unwrap()).await.status(), 200);
    }
    // The revision is read from the storage of the courses, because the credentials are in another storage.
    assert_eq!(storage.reads(), 1);
    assert_eq!(storage.revisions.load(Ordering::SeqCst), 2);
}

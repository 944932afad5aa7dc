//! Answers that are kept by revision: they save the reading of courses, and are never stale (invariant 11).

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

use crate::app::{OTHER, OWNER, TestApp, course, of_other};

/// A storage that counts what is asked of it, and can be told to behave otherwise.
#[derive(Debug)]
struct CountingStorage {
    memory: MemoryStorage,
    lists: AtomicUsize,
    details: AtomicUsize,
    revisions: AtomicUsize,
    credentials: AtomicUsize,
    /// Whether it keeps revisions.
    revised: bool,
    /// A permit lets one list be read.
    gate: Semaphore,
    /// Changes the account's courses in the middle of the next list.
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
            revised: true,
            gate: Semaphore::new(Semaphore::MAX_PERMITS),
            disturb: AtomicBool::new(false),
        }
    }

    /// The revision as it is now, where any is kept.
    async fn revision_of(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        if self.revised { self.memory.revision(account).await } else { Ok(None) }
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
        if let Some(credential) = found.as_mut().filter(|_| !self.revised) {
            credential.revision = None;
        }
        Ok(found)
    }
}

/// A catalogue over one course of [`OWNER`], a key, and the counts of its storage.
struct Library {
    catalogue: Catalogue,
    storage: Arc<CountingStorage>,
    memory: MemoryStorage,
    token: String,
}

async fn library(
    change: impl FnOnce(&mut CountingStorage),
    settings: impl FnOnce(CatalogueBuilder) -> CatalogueBuilder,
) -> Library {
    let app = TestApp::new().await;
    app.put([course("c", 0), of_other(course("c", 0))]).await;
    let token = app.key(OWNER, "read:courses").await;
    let mut counting = CountingStorage::new(app.storage.clone());
    change(&mut counting);
    let storage = Arc::new(counting);
    let catalogue = settings(Catalogue::with_api_keys(Arc::clone(&storage))).build().unwrap();
    Library { catalogue, storage, memory: app.storage, token }
}

impl Library {
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
async fn a_hot_answer_is_one_look_up() {
    let library = library(|_| {}, |builder| builder).await;
    for path in PATHS {
        let first = library.get(path, None).await;
        let (reads, revisions) = (library.storage.reads(), library.storage.revisions.load(Ordering::SeqCst));
        let credentials = library.storage.credentials.load(Ordering::SeqCst);
        let second = library.get(path, None).await;
        assert_eq!(second.body(), first.body());
        assert_eq!(second.headers()["etag"], first.headers()["etag"]);
        assert_eq!(library.storage.reads(), reads, "{path}");
        assert_eq!(library.storage.revisions.load(Ordering::SeqCst), revisions, "{path}");
        assert_eq!(library.storage.credentials.load(Ordering::SeqCst), credentials + 1, "{path}");
    }
    let statistics = library.catalogue.page_cache();
    assert_eq!((statistics.hits, statistics.misses), (3, 3));
}

#[tokio::test]
async fn a_mistyped_key_never_reaches_the_storage() {
    let mut library = library(|_| {}, |builder| builder).await;
    library.token.replace_range(10..11, if library.token.as_bytes()[10] == b'a' { "b" } else { "a" });
    assert_eq!(library.get("/api/v1/me", None).await.status(), 401);
    assert_eq!(library.storage.credentials.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_304_reads_no_course_even_where_nothing_is_kept() {
    let library = library(|_| {}, |builder| builder.page_cache(0)).await;
    for path in PATHS {
        let tag = library.tag(path).await;
        let reads = library.storage.reads();
        assert_eq!(library.get(path, Some(&tag)).await.status(), 304, "{path}");
        assert_eq!(library.storage.reads(), reads, "{path}");
    }
}

#[tokio::test]
async fn a_star_finds_out_whether_there_is_an_answer() {
    let library = library(|_| {}, |builder| builder).await;
    assert_eq!(library.get("/api/v1/courses/c", Some("*")).await.status(), 304);
    assert_eq!(library.get("/api/v1/courses/nobody", Some("*")).await.status(), 404);
}

#[tokio::test]
async fn a_change_is_in_the_very_next_answer() {
    let library = library(|_| {}, |builder| builder).await;
    for path in PATHS {
        let tag = library.tag(path).await;
        let title = format!("Changed before {path}");
        retitle(&library.memory, "c", &title).await;
        let next = library.get(path, Some(&tag)).await;
        assert_eq!(next.status(), 200, "{path}");
        assert!(String::from_utf8_lossy(next.body()).contains(&title), "{path}");
    }
}

#[tokio::test]
async fn a_change_of_one_account_leaves_the_others_answers() {
    let library = library(|_| {}, |builder| builder).await;
    let tag = library.tag("/api/v1/courses").await;
    library.memory.remove_course(&AccountId::new(OTHER), "c").await.unwrap();
    assert_eq!(library.get("/api/v1/courses", Some(&tag)).await.status(), 304);
}

/// Also where one of its id comes back: then with nothing of the one before.
#[tokio::test]
async fn a_removed_account_is_refused_at_once_and_its_answers_never_come_back() {
    let mut library = library(|_| {}, |builder| builder).await;
    let mut tags = Vec::new();
    for path in PATHS {
        tags.push(library.tag(path).await);
    }
    let owner = AccountId::new(OWNER);
    library.memory.remove_account(&owner).await.unwrap().unwrap();
    for (path, tag) in PATHS.into_iter().zip(&tags) {
        assert_eq!(library.get(path, Some(tag)).await.status(), 401, "{path}");
    }
    let mut import = library.memory.begin_import().await.unwrap();
    import.put_account(&Account { id: owner.clone(), name: String::new(), email: String::new() }).await.unwrap();
    import.commit().await.unwrap();
    let (token, key) = NewCredential::api_key(owner, "another", Scopes::from_names(["read:courses"]));
    library.memory.create_key(&key, &Actor::OPERATOR).await.unwrap();
    token.expose().clone_into(&mut library.token);
    for (path, tag) in PATHS.into_iter().zip(&tags) {
        let next = library.get(path, Some(tag)).await;
        let is_empty = next.status() == 200 && next.body().starts_with(br#"{"data":[]"#);
        assert!(is_empty || path.ends_with("/c") && next.status() == 404, "{path}: {next:?}");
    }
}

#[tokio::test]
async fn what_changed_while_it_was_read_is_not_kept() {
    let library = library(|_| {}, |builder| builder).await;
    library.storage.disturb.store(true, Ordering::SeqCst);
    let disturbed = library.tag("/api/v1/courses").await;
    let next = library.get("/api/v1/courses", Some(&disturbed)).await;
    assert!(String::from_utf8_lossy(next.body()).contains("Disturbed"));
    // Nor was it kept under the revision of before.
    assert_eq!(library.catalogue.page_cache().hits, 0);
}

#[tokio::test]
async fn without_a_cache_every_answer_is_rendered() {
    let library = library(|_| {}, |builder| builder.page_cache(0)).await;
    for reads in 1..=3 {
        library.get("/api/v1/courses", None).await;
        assert_eq!(library.storage.reads(), reads);
    }
    assert_eq!(library.catalogue.page_cache().bytes, 0);
}

#[tokio::test]
async fn a_storage_without_revisions_has_nothing_kept() {
    let library = library(|storage| storage.revised = false, |builder| builder).await;
    for path in PATHS {
        let tag = library.tag(path).await;
        let reads = library.storage.reads();
        assert_eq!(library.get(path, Some(&tag)).await.status(), 304, "{path}");
        assert_eq!(library.storage.reads(), reads + 1, "{path}");
    }
    assert_eq!(library.catalogue.page_cache(), Default::default());
}

#[tokio::test]
async fn one_renders_while_many_wait() {
    let library = library(|storage| storage.gate = Semaphore::new(0), |builder| builder).await;
    let mut many: Vec<_> = (0..10).map(|_| Box::pin(library.get("/api/v1/courses", None))).collect();
    wait(&mut many).await;
    assert_eq!(library.storage.lists.load(Ordering::SeqCst), 1);
    assert_eq!(library.catalogue.in_flight(), 10);
    // Were each of them to read, nine would find no permit.
    library.storage.gate.add_permits(1);
    for call in many {
        assert_eq!(call.await.status(), 200);
    }
    assert_eq!(library.catalogue.in_flight(), 0);
    assert_eq!(library.storage.lists.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn who_waits_for_a_caller_that_goes_away_reads_itself() {
    let library = library(|storage| storage.gate = Semaphore::new(0), |builder| builder).await;
    let mut calls = [(); 2].map(|()| Box::pin(library.get("/api/v1/courses", None)));
    wait(&mut calls).await;
    let [first, second] = calls;
    drop(first);
    library.storage.gate.add_permits(2);
    assert_eq!(second.await.status(), 200);
}

/// Polls each once, and expects it to wait.
async fn wait<F: Future<Output = Response<bytes::Bytes>>>(calls: &mut [Pin<Box<F>>]) {
    for call in calls {
        tokio::select! {
            biased;
            _ = call => panic!("the storage is closed"),
            () = async {} => {}
        }
    }
}

#[tokio::test]
async fn who_waited_in_vain_does_not_queue_behind_the_others() {
    let library = library(
        |storage| {
            storage.gate = Semaphore::new(0);
            storage.disturb = AtomicBool::new(true);
        },
        |builder| builder,
    )
    .await;
    let mut leader = [Box::pin(library.get("/api/v1/courses", None))];
    wait(&mut leader).await;
    let mut others: Vec<_> = (0..9).map(|_| Box::pin(library.get("/api/v1/courses", None))).collect();
    wait(&mut others).await;
    assert_eq!(library.storage.lists.load(Ordering::SeqCst), 1);
    // A change comes while the first one reads, so its answer cannot be kept for the others.
    library.storage.gate.add_permits(1);
    let [leader] = leader;
    assert_eq!(leader.await.status(), 200);
    // Each lets the next one know.
    for _ in 0..9 {
        wait(&mut others).await;
    }
    assert_eq!(library.storage.lists.load(Ordering::SeqCst), 10, "all of them read at the same time");
    library.storage.gate.add_permits(9);
    for call in others {
        assert_eq!(call.await.status(), 200);
    }
}

#[tokio::test]
async fn kept_answers_stay_within_their_bound() {
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
async fn the_caller_of_a_kept_answer_takes_up_room_too() {
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
    // Such an entry takes about 800 bytes of the process, measured with 200,000 of them.
    assert!((800..1_000).contains(&bytes), "what is around the bytes counts too: {bytes}");
    let long = "x".repeat(1_000);
    let client = weight(client(&long)).await - weight(client("x")).await;
    assert!((1_123..1_126).contains(&client), "{client}: its bytes and an eighth");
    // The same body, and in the key an id is held twice.
    let account = weight(session(&long, "b", "c")).await;
    let id = weight(session("a", &long, "c")).await - account;
    assert!((1_123..1_126).contains(&id), "{id}");
    assert!(weight(session("a", "b", &long)).await.abs_diff(account) <= 1);
}

#[tokio::test]
async fn the_place_in_a_list_takes_up_room_too() {
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
async fn an_authenticator_of_the_hosts_own_has_its_answers_kept_too() {
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
    // The revision is that of the storage whose courses are read.
    assert_eq!(storage.reads(), 1);
    assert_eq!(storage.revisions.load(Ordering::SeqCst), 2);
}

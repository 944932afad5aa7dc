//! The page cache: cached responses need no read of courses, and are never stale (invariant 11).

use std::sync::Arc;

use catalogue_core::admin::AdminStorage;
use catalogue_core::auth::{Identity, Issued, Scopes, StoredCredentials, TokenDigest};
use catalogue_core::storage::MemoryStorage;
use catalogue_core::{AccountId, Catalogue, CatalogueBuilder, Course};
use catalogue_storage_conformance::sample;
use catalogue_storage_tests::intercept::Intercept;
use http::Request;

use crate::app::{OTHER, OWNER, TestApp, TestResponse, course, for_other};

/// Calls of a storage that read courses.
pub(crate) const READS: [&str; 2] = ["list_courses", "find_course"];

/// A catalogue over one course each of [`OWNER`] and [`OTHER`], its storage, and a key of [`OWNER`].
struct Fixture {
    app: TestApp,
    storage: Arc<Intercept<MemoryStorage>>,
    token: String,
}

async fn fixture(settings: impl FnOnce(CatalogueBuilder) -> CatalogueBuilder) -> Fixture {
    fixture_over(Intercept::new, settings).await
}

async fn fixture_over(
    intercept: impl FnOnce(MemoryStorage) -> Intercept<MemoryStorage>,
    settings: impl FnOnce(CatalogueBuilder) -> CatalogueBuilder,
) -> Fixture {
    let (mut app, token) = TestApp::with_courses([course("c", 0), for_other(course("c", 0))]).await;
    let storage = Arc::new(intercept(app.storage.clone()));
    app.catalogue = settings(Catalogue::with_api_keys(Arc::clone(&storage))).build().unwrap();
    Fixture { app, storage, token }
}

impl Fixture {
    async fn get(&self, path: &str) -> TestResponse {
        self.app.get(&self.token, path).await
    }

    async fn revalidate(&self, path: &str, tag: &str) -> TestResponse {
        self.app.revalidate(&self.token, path, tag).await
    }

    async fn tag(&self, path: &str) -> String {
        self.get(path).await.header("etag").unwrap().to_owned()
    }

    fn reads(&self) -> usize {
        self.storage.count(&READS)
    }
}

const PATHS: [&str; 3] = ["/api/v1/courses", "/api/v1/courses?limit=1", "/api/v1/courses/c"];

#[tokio::test]
async fn cached_response_costs_one_lookup() {
    let fixture = fixture(|builder| builder).await;
    let calls = || [&READS[..], &["revision"], &["find_credential"]].map(|calls| fixture.storage.count(calls));
    for path in PATHS {
        let first = fixture.get(path).await;
        let [reads, revisions, lookups] = calls();
        let second = fixture.get(path).await;
        assert_eq!((&second.body, second.header("etag")), (&first.body, first.header("etag")));
        assert_eq!(calls(), [reads, revisions, lookups + 1], "{path}");
    }
    let statistics = fixture.app.catalogue.page_cache();
    assert_eq!((statistics.hits, statistics.misses), (3, 3));
}

#[tokio::test]
async fn mistyped_key_never_reaches_the_storage() {
    let mut fixture = fixture(|builder| builder).await;
    fixture.token.replace_range(10..11, if fixture.token.as_bytes()[10] == b'a' { "b" } else { "a" });
    assert_eq!(fixture.get("/api/v1/me").await.status, 401);
    assert_eq!(fixture.storage.count(&["find_credential"]), 0);
}

#[tokio::test]
async fn change_appears_in_the_next_response() {
    let fixture = fixture(|builder| builder).await;
    for path in PATHS {
        let tag = fixture.tag(path).await;
        let title = format!("Changed before {path}");
        fixture.app.put([Course { title: title.clone(), ..course("c", 0) }]).await;
        let next = fixture.revalidate(path, &tag).await;
        assert_eq!(next.status, 200, "{path}");
        assert_ne!(next.header("etag"), Some(&*tag), "{path}");
        assert!(String::from_utf8_lossy(&next.body).contains(&title), "{path}");
    }
}

#[tokio::test]
async fn change_does_not_affect_other_accounts() {
    let fixture = fixture(|builder| builder).await;
    let tag = fixture.tag("/api/v1/courses").await;
    fixture.app.storage.remove_course(&AccountId::new(OTHER), "c").await.unwrap();
    assert_eq!(fixture.revalidate("/api/v1/courses", &tag).await.status, 304);
}

/// A new account with the id of a removed one gets no response of the removed account.
#[tokio::test]
async fn responses_of_removed_account_never_return() {
    let mut fixture = fixture(|builder| builder).await;
    let mut tags = Vec::new();
    for path in PATHS {
        tags.push(fixture.tag(path).await);
    }
    fixture.app.storage.remove_account(&OWNER.into()).await.unwrap().unwrap();
    for (path, tag) in PATHS.into_iter().zip(&tags) {
        assert_eq!(fixture.revalidate(path, tag).await.status, 401, "{path}");
    }
    let mut import = fixture.app.storage.begin_import().await.unwrap();
    import.put_account(&sample::account(OWNER)).await.unwrap();
    import.commit().await.unwrap();
    fixture.token = fixture.app.key(OWNER, "read:courses").await;
    for (path, tag) in PATHS.into_iter().zip(&tags) {
        let next = fixture.revalidate(path, tag).await;
        let is_empty = next.status == 200 && next.body.starts_with(br#"{"data":[]"#);
        assert!(is_empty || path.ends_with("/c") && next.status == 404, "{path}: {next:?}");
    }
}

/// A revalidation reads no courses even then.
#[tokio::test]
async fn disabled_cache_renders_every_response() {
    let fixture = fixture(|builder| builder.page_cache(0)).await;
    for (reads, path) in (1..).step_by(2).zip(PATHS) {
        let tag = fixture.tag(path).await;
        assert_eq!((fixture.revalidate(path, &tag).await.status.as_u16(), fixture.reads()), (304, reads), "{path}");
        assert_eq!((fixture.tag(path).await, fixture.reads()), (tag, reads + 1), "{path}");
    }
    assert_eq!(fixture.app.catalogue.page_cache().bytes, 0);
}

#[tokio::test]
async fn storage_without_revisions_disables_the_cache() {
    let fixture = fixture_over(|memory| Intercept::new(memory).without_revisions(), |builder| builder).await;
    for path in PATHS {
        let tag = fixture.tag(path).await;
        let reads = fixture.reads();
        assert_eq!(fixture.revalidate(path, &tag).await.status, 304, "{path}");
        assert_eq!(fixture.reads(), reads + 1, "{path}");
    }
    assert_eq!(fixture.app.catalogue.page_cache(), Default::default());
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
        let (app, token) = TestApp::with_courses([course(slug, 1), course("last", 0)]).await;
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
    let mut fixture = fixture(|builder| builder).await;
    let credentials = StoredCredentials::new(fixture.app.storage.clone());
    fixture.app.catalogue = Catalogue::builder(Arc::clone(&fixture.storage), credentials).build().unwrap();
    for _ in 0..2 {
        assert_eq!(fixture.get("/api/v1/courses").await.status, 200);
    }
    // The revision is read from the storage of the courses, because the credentials are in another storage.
    assert_eq!((fixture.reads(), fixture.storage.count(&["revision"])), (1, 2));
}

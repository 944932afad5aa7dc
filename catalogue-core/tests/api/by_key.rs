//! Courses that are read together with the credential that asks for them: one call a request, and never an answer that the
//! token does not have any more.

use std::mem;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use catalogue_core::admin::{AdminStorage, NewCredential};
use catalogue_core::auth::{Credential, CredentialKind, Scopes, TokenDigest};
use catalogue_core::limit::{LocalRateLimiter, RateLimit};
use catalogue_core::storage::{
    Actor, AtRevision, CourseRows, CourseStorage, CoursesByKey, CredentialStorage, KeyStorage, MemoryStorage,
    PageRequest, Revision, StorageError, StorageErrorKind,
};
use catalogue_core::{AccountId, Catalogue, CatalogueBuilder, Course, CourseDetail, Timestamp, async_trait};
use http::{Method, Request};

use crate::app::{Answer, BASE, OTHER, OWNER, TestApp, ask, course, of_other};

/// What a storage was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Call {
    List,
    Detail,
    Credential,
    ListByKey,
    DetailByKey,
}
use Call::{Credential as Key, Detail, DetailByKey, List, ListByKey};

/// A storage of whose calls each is a round trip.
#[derive(Debug, Default)]
struct Remote {
    memory: MemoryStorage,
    calls: Mutex<Vec<Call>>,
    /// Fails what is read by key.
    fails: Mutex<bool>,
    without_revisions: bool,
}

impl Remote {
    fn note(&self, call: Call) {
        self.calls.lock().unwrap().push(call);
    }

    fn take(&self) -> Vec<Call> {
        mem::take(&mut self.calls.lock().unwrap())
    }

    fn revised(&self, revision: Option<Revision>) -> Result<Option<Revision>, StorageError> {
        Ok(revision.filter(|_| !self.without_revisions))
    }

    async fn credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        let mut found = self.memory.find_credential(digest).await?;
        if let Some(found) = found.as_mut().filter(|_| self.without_revisions) {
            found.revision = None;
        }
        Ok(found)
    }

    async fn credential_of(
        &self,
        digest: &TokenDigest,
        account: &AccountId,
    ) -> Result<Option<Credential>, StorageError> {
        if *self.fails.lock().unwrap() {
            return Err(StorageError::new(StorageErrorKind::Unavailable, "away"));
        }
        Ok(self.credential(digest).await?.filter(|found| found.identity.account == *account))
    }
}

#[async_trait]
impl CourseStorage for Remote {
    async fn list_courses(
        &self,
        account: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Revision>, StorageError> {
        self.note(List);
        self.revised(self.memory.list_courses(account, page, rows).await?)
    }

    async fn find_course(
        &self,
        account: &AccountId,
        slug: &str,
    ) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
        self.note(Detail);
        let AtRevision { value, revision } = self.memory.find_course(account, slug).await?;
        Ok(AtRevision { value, revision: self.revised(revision)? })
    }

    async fn revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        self.revised(self.memory.revision(account).await?)
    }
}

#[async_trait]
impl CredentialStorage for Remote {
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        self.note(Key);
        self.credential(digest).await
    }

    fn courses_by_key(&self) -> Option<&dyn CoursesByKey> {
        Some(self)
    }
}

#[async_trait]
impl CoursesByKey for Remote {
    async fn list_courses_by_key(
        &self,
        digest: &TokenDigest,
        account: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Credential>, StorageError> {
        self.note(ListByKey);
        let Some(credential) = self.credential_of(digest, account).await? else { return Ok(None) };
        self.memory.list_courses(account, page, rows).await?;
        Ok(Some(credential))
    }

    async fn find_course_by_key(
        &self,
        digest: &TokenDigest,
        account: &AccountId,
        slug: &str,
    ) -> Result<Option<(Credential, Option<CourseDetail>)>, StorageError> {
        self.note(DetailByKey);
        let Some(credential) = self.credential_of(digest, account).await? else { return Ok(None) };
        Ok(Some((credential, self.memory.find_course(account, slug).await?.value)))
    }
}

/// A catalogue over a [`Remote`], and another over its memory, whose answers are right.
struct Pair {
    app: TestApp,
    remote: Arc<Remote>,
    catalogue: Catalogue,
    token: String,
    key: String,
}

const LISTS: &str = "/api/v1/courses";
const ONE: &str = "/api/v1/courses/c";
const ABSENT: &str = "/api/v1/courses/absent";

impl Pair {
    async fn new(settings: impl FnOnce(CatalogueBuilder) -> CatalogueBuilder) -> Self {
        Self::with(|_| {}, settings).await
    }

    async fn with(
        change: impl FnOnce(&mut Remote),
        settings: impl FnOnce(CatalogueBuilder) -> CatalogueBuilder,
    ) -> Self {
        let app = TestApp::new().await;
        app.put([course("c", 0), course("d", 1), of_other(course("c", 0))]).await;
        let (token, key) = app.credential(CredentialKind::ApiKey, OWNER, "read:courses", None).await;
        let mut remote = Remote { memory: app.storage.clone(), ..Remote::default() };
        change(&mut remote);
        let remote = Arc::new(remote);
        let catalogue = settings(Catalogue::with_api_keys(Arc::clone(&remote))).build().unwrap();
        Self { app, remote, catalogue, token, key }
    }

    /// One whose token was seen, over a server that keeps no page.
    async fn known() -> Self {
        let pair = Self::new(|builder| builder.page_cache(0)).await;
        pair.get(LISTS).await;
        pair.remote.take();
        pair
    }

    async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, "").await
    }

    async fn send(&self, method: Method, path: &str, tag: &str) -> Answer {
        let request = |catalogue| {
            let request = Request::builder().method(&method).uri(path).header("if-none-match", tag);
            ask(catalogue, BASE, request.header("authorization", format!("Bearer {}", self.token)).body(()).unwrap())
        };
        let (answer, expected) = (request(&self.catalogue).await, request(&self.app.catalogue).await);
        assert_eq!((answer.status, &answer.body), (expected.status, &expected.body), "{path}");
        for name in ["link", "content-length", "www-authenticate", "cache-control"] {
            assert_eq!(answer.headers.get(name), expected.headers.get(name), "{path}");
        }
        assert_eq!(answer.headers.contains_key("etag"), expected.headers.contains_key("etag"), "{path}");
        answer
    }

    /// GET, and what it asks of the storage.
    async fn asks(&self, path: &str, status: u16, calls: &[Call]) -> Answer {
        let answer = self.get(path).await;
        assert_eq!((answer.status.as_u16(), &*self.remote.take()), (status, calls), "{path}");
        answer
    }

    async fn retitle(&self, title: &str) {
        self.app.put([Course { title: title.to_owned(), ..course("c", 0) }]).await;
    }
}

#[tokio::test]
async fn what_is_rendered_for_a_known_token_is_one_call() {
    let pair = Pair::new(|builder| builder.page_cache(0)).await;
    pair.asks(LISTS, 200, &[Key, List]).await;
    for _ in 0..2 {
        pair.asks(LISTS, 200, &[ListByKey]).await;
        let first = pair.asks("/api/v1/courses?limit=1", 200, &[ListByKey]).await;
        let cursor = first.json()["meta"]["nextCursor"].as_str().unwrap().to_owned();
        pair.asks(&format!("/api/v1/courses?cursor={cursor}"), 200, &[ListByKey]).await;
        pair.asks(ONE, 200, &[DetailByKey]).await;
        pair.asks(ABSENT, 404, &[DetailByKey]).await;
        pair.asks("/api/v1/courses?limit=0", 400, &[Key]).await;
        pair.asks("/api/v1/me", 200, &[Key]).await;
        pair.asks("/api/v1/nothing", 404, &[Key]).await;
    }
    let tag = pair.get(ONE).await.header("etag").unwrap().to_owned();
    pair.remote.take();
    for method in [Method::GET, Method::HEAD] {
        assert_eq!(pair.send(method, ONE, &tag).await.status, 304);
        assert_eq!(pair.remote.take(), [Key]);
    }
    assert_eq!(pair.send(Method::GET, ABSENT, "*").await.status, 404);
    assert_eq!(pair.send(Method::HEAD, LISTS, "").await.status, 200);
    assert_eq!(pair.remote.take(), [DetailByKey, ListByKey]);
}

#[tokio::test]
async fn what_is_kept_is_one_look_up() {
    let pair = Pair::new(|builder| builder).await;
    pair.asks(LISTS, 200, &[Key, List]).await;
    pair.asks(LISTS, 200, &[Key]).await;
    pair.asks(ONE, 200, &[DetailByKey]).await;
    pair.asks(ONE, 200, &[Key]).await;
    pair.asks(ABSENT, 404, &[DetailByKey]).await;
    assert_eq!(pair.catalogue.page_cache().hits, 2);
}

#[tokio::test]
async fn a_change_is_in_the_very_next_answer_with_its_tag() {
    for page_cache in [0, 1 << 20] {
        let pair = Pair::new(|builder| builder.page_cache(page_cache)).await;
        for (path, by_key, plain) in [(LISTS, ListByKey, List), (ONE, DetailByKey, Detail)] {
            let before = pair.get(path).await;
            pair.remote.take();
            let title = format!("Changed before {path}");
            pair.retitle(&title).await;
            let calls: &[Call] = if page_cache == 0 { &[by_key, plain] } else { &[Key, plain] };
            let after = pair.asks(path, 200, calls).await;
            assert!(String::from_utf8_lossy(&after.body).contains(&title), "{path}");
            assert_ne!(after.header("etag"), before.header("etag"));
            assert_eq!(pair.send(Method::GET, path, after.header("etag").unwrap()).await.status, 304);
        }
    }
}

#[tokio::test]
async fn a_page_that_was_not_asked_for_since_a_change_has_the_tag_of_now() {
    let pair = Pair::new(|builder| builder).await;
    pair.asks(LISTS, 200, &[Key, List]).await;
    pair.retitle("Changed").await;
    let changed = pair.asks(ONE, 200, &[DetailByKey, Detail]).await;
    assert_eq!(pair.asks(ONE, 200, &[Key]).await.header("etag"), changed.header("etag"));
    pair.asks(LISTS, 200, &[ListByKey]).await;
}

#[tokio::test]
async fn a_revoked_key_is_refused_at_once() {
    let pair = Pair::known().await;
    let owner = AccountId::new(OWNER);
    pair.app.storage.revoke_key(&owner, &pair.key, Timestamp::now(), &Actor::OWNER).await.unwrap().unwrap();
    pair.asks(LISTS, 401, &[ListByKey]).await;
    pair.asks(ONE, 401, &[DetailByKey]).await;
    pair.asks(ABSENT, 401, &[DetailByKey]).await;
    pair.asks("/api/v1/courses?limit=0", 401, &[Key]).await;
}

#[tokio::test]
async fn a_key_that_ends_is_refused_at_once() {
    let pair = Pair::known().await;
    let (owner, ends_at) = (AccountId::new(OWNER), Timestamp::now());
    let (_, successor) = NewCredential::api_key(owner.clone(), "a key", Scopes::default());
    let rotated = pair.app.storage.rotate_key(&owner, &pair.key, ends_at, &successor, &Actor::OWNER).await;
    rotated.unwrap().unwrap();
    pair.asks(LISTS, 401, &[ListByKey]).await;
}

#[tokio::test]
async fn a_token_of_a_removed_account_is_refused_at_once() {
    let pair = Pair::known().await;
    pair.app.storage.remove_account(&AccountId::new(OWNER)).await.unwrap().unwrap();
    pair.asks(LISTS, 401, &[ListByKey, List, Key]).await;
    pair.asks(ONE, 401, &[DetailByKey, Detail, Key]).await;
}

/// The same token, in the hands of another account or with other scopes.
#[tokio::test]
async fn a_credential_that_was_replaced_is_what_counts() {
    for (account, scopes, statuses) in
        [(OTHER, "read:courses", [200, 200, 404]), (OWNER, "read:nothing", [403; 3]), (OTHER, "", [403; 3])]
    {
        let pair = Pair::known().await;
        let digest = catalogue_core::auth::BearerToken::new(&pair.token).unwrap().digest();
        let (_, mut replaced) = NewCredential::api_key(AccountId::new(account), "a key", Scopes::from_names([scopes]));
        replaced.digest = digest;
        pair.app.storage.remove_account(&AccountId::new(OWNER)).await.unwrap().unwrap();
        let mut import = pair.app.storage.begin_import().await.unwrap();
        for id in [OWNER, OTHER] {
            let (id, name, email) = (AccountId::new(id), String::new(), String::new());
            import.put_account(&catalogue_core::admin::Account { id, name, email }).await.unwrap();
        }
        import.put_course(&course("c", 7)).await.unwrap();
        import.put_course(&of_other(course("of-other", 7))).await.unwrap();
        import.commit().await.unwrap();
        pair.app.storage.create_key(&replaced, &Actor::OPERATOR).await.unwrap();
        for (path, status) in [LISTS, ONE, ABSENT].into_iter().zip(statuses) {
            assert_eq!(pair.get(path).await.status, status, "{path}, {account}, {scopes}");
        }
    }
}

/// The look-up says what is wrong, as without the shortcut.
#[tokio::test]
async fn a_read_that_fails_is_a_500_once_the_token_is_known() {
    let pair = Pair::known().await;
    *pair.remote.fails.lock().unwrap() = true;
    let request = Request::get(LISTS).header("authorization", format!("Bearer {}", pair.token)).body(()).unwrap();
    let answer = ask(&pair.catalogue, BASE, request).await;
    answer.failure(500, "internal_error");
    assert_eq!(pair.remote.take(), [ListByKey, Key]);
    let owner = AccountId::new(OWNER);
    pair.app.storage.revoke_key(&owner, &pair.key, Timestamp::now(), &Actor::OWNER).await.unwrap().unwrap();
    pair.asks(LISTS, 401, &[ListByKey, Key]).await;
}

#[tokio::test]
async fn where_requests_are_limited_nothing_is_read_by_key() {
    let limiter = LocalRateLimiter::new(RateLimit::new(100, Duration::from_secs(60)).unwrap());
    let pair = Pair::new(|builder| builder.page_cache(0).rate_limiter(limiter)).await;
    for _ in 0..3 {
        pair.asks(LISTS, 200, &[Key, List]).await;
        pair.asks(ONE, 200, &[Key, Detail]).await;
    }
}

#[tokio::test]
async fn without_revisions_each_answer_is_one_call() {
    let pair = Pair::with(|remote| remote.without_revisions = true, |builder| builder).await;
    pair.asks(LISTS, 200, &[Key, List]).await;
    for title in ["One", "Two"] {
        pair.retitle(title).await;
        for (path, call) in [(LISTS, ListByKey), (ONE, DetailByKey)] {
            let answer = pair.asks(path, 200, &[call]).await;
            assert!(String::from_utf8_lossy(&answer.body).contains(title), "{path}");
        }
    }
}

#[tokio::test]
async fn an_empty_list_is_one_call_too() {
    let pair = Pair::known().await;
    for slug in ["c", "d"] {
        pair.app.storage.remove_course(&AccountId::new(OWNER), slug).await.unwrap();
    }
    pair.asks(LISTS, 200, &[ListByKey, List]).await;
    assert!(pair.asks(LISTS, 200, &[ListByKey]).await.data().as_array().unwrap().is_empty());
    pair.asks(ONE, 404, &[DetailByKey]).await;
}

//! A storage of whose calls each is a round trip, and a catalogue over it beside one whose answers are right.

use std::mem;
use std::sync::{Arc, Mutex};

use catalogue_core::auth::{Credential, CredentialKind, Identity, TokenDigest};
use catalogue_core::observe::{FinishedRequest, Observer};
use catalogue_core::storage::{
    AtRevision, CourseRows, CourseStorage, CoursesByKey, CredentialStorage, MemoryStorage, PageRequest, Revision,
    StorageError, StorageErrorKind,
};
use catalogue_core::{AccountId, Catalogue, CatalogueBuilder, Course, CourseDetail, async_trait};
use http::{Method, Request};

use crate::app::{Answer, BASE, OWNER, TestApp, ask, course, of_other};

/// What a storage was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Call {
    List,
    Detail,
    Credential,
    ListByKey,
    DetailByKey,
}

/// How what is read by key goes wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    Fails(StorageErrorKind),
    Panics,
}

/// A storage of whose calls each is a round trip.
#[derive(Debug, Default)]
pub(crate) struct Remote {
    memory: MemoryStorage,
    calls: Mutex<Vec<Call>>,
    pub(crate) fault: Mutex<Option<Fault>>,
    /// Whose each credential is instead, while the revision stays the same.
    pub(crate) identity: Mutex<Option<Identity>>,
    pub(crate) without_revisions: bool,
}

impl Remote {
    fn note(&self, call: Call) {
        self.calls.lock().unwrap().push(call);
    }

    pub(crate) fn take(&self) -> Vec<Call> {
        mem::take(&mut self.calls.lock().unwrap())
    }

    fn revised(&self, revision: Option<Revision>) -> Option<Revision> {
        revision.filter(|_| !self.without_revisions)
    }

    async fn credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        let mut found = self.memory.find_credential(digest).await?;
        if let Some(found) = &mut found {
            found.revision = self.revised(found.revision);
            if let Some(identity) = &*self.identity.lock().unwrap() {
                found.identity = identity.clone();
            }
        }
        Ok(found)
    }

    async fn credential_of(
        &self,
        digest: &TokenDigest,
        account: &AccountId,
    ) -> Result<Option<Credential>, StorageError> {
        let fault = *self.fault.lock().unwrap();
        match fault {
            Some(Fault::Fails(kind)) => return Err(StorageError::new(kind, "away")),
            Some(Fault::Panics) => panic!("as it was told to"),
            None => {}
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
        self.note(Call::List);
        Ok(self.revised(self.memory.list_courses(account, page, rows).await?))
    }

    async fn find_course(
        &self,
        account: &AccountId,
        slug: &str,
    ) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
        self.note(Call::Detail);
        let AtRevision { value, revision } = self.memory.find_course(account, slug).await?;
        Ok(AtRevision { value, revision: self.revised(revision) })
    }

    async fn revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        Ok(self.revised(self.memory.revision(account).await?))
    }
}

#[async_trait]
impl CredentialStorage for Remote {
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        self.note(Call::Credential);
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
        self.note(Call::ListByKey);
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
        self.note(Call::DetailByKey);
        let Some(credential) = self.credential_of(digest, account).await? else { return Ok(None) };
        Ok(Some((credential, self.memory.find_course(account, slug).await?.value)))
    }
}

/// What an observer is told of requests: status, account and credential.
#[derive(Clone, Debug, Default)]
struct Told(Arc<Mutex<Vec<Line>>>);

pub(crate) type Line = (u16, Option<(String, String)>);

impl Told {
    fn take(&self) -> Vec<Line> {
        mem::take(&mut self.0.lock().unwrap())
    }
}

impl Observer for Told {
    fn finished(&self, request: &FinishedRequest<'_>) {
        let caller = request.caller.map(|caller| (caller.account.to_string(), caller.credential_id.to_string()));
        self.0.lock().unwrap().push((request.status.as_u16(), caller));
    }
}

/// A catalogue over a [`Remote`], and another over its memory, whose answers are right.
pub(crate) struct Pair {
    pub(crate) app: TestApp,
    pub(crate) remote: Arc<Remote>,
    pub(crate) catalogue: Catalogue,
    pub(crate) token: String,
    pub(crate) key: String,
    told: [Told; 2],
}

pub(crate) const LISTS: &str = "/api/v1/courses";
pub(crate) const ONE: &str = "/api/v1/courses/c";
pub(crate) const ABSENT: &str = "/api/v1/courses/absent";

impl Pair {
    pub(crate) async fn new(settings: impl FnOnce(CatalogueBuilder) -> CatalogueBuilder) -> Self {
        Self::with(|_| {}, settings).await
    }

    pub(crate) async fn with(
        change: impl FnOnce(&mut Remote),
        settings: impl FnOnce(CatalogueBuilder) -> CatalogueBuilder,
    ) -> Self {
        let told = [Told::default(), Told::default()];
        let app = TestApp::with(|builder| builder.observer(told[1].clone())).await;
        app.put([course("c", 0), course("d", 1), of_other(course("c", 0))]).await;
        let (token, key) = app.credential(CredentialKind::ApiKey, OWNER, "read:courses", None).await;
        let mut remote = Remote { memory: app.storage.clone(), ..Remote::default() };
        change(&mut remote);
        let remote = Arc::new(remote);
        let builder = settings(Catalogue::with_api_keys(Arc::clone(&remote)));
        let catalogue = builder.observer(told[0].clone()).build().unwrap();
        told[1].take();
        Self { app, remote, catalogue, token, key, told }
    }

    /// One whose token was seen, over a server that keeps no page.
    pub(crate) async fn known() -> Self {
        let pair = Self::new(|builder| builder.page_cache(0)).await;
        pair.get(LISTS).await;
        pair.remote.take();
        pair
    }

    /// GET, whatever the other catalogue answers.
    pub(crate) async fn get_alone(&self, path: &str) -> Answer {
        let request = Request::get(path).header("authorization", format!("Bearer {}", self.token)).body(()).unwrap();
        ask(&self.catalogue, BASE, request).await
    }

    /// What the observer was told of the last request to this catalogue alone.
    pub(crate) fn told(&self) -> Line {
        self.told[0].take().pop().unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, "").await
    }

    /// The answer, which is that of the other catalogue.
    pub(crate) async fn send(&self, method: Method, path: &str, tag: &str) -> Answer {
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
        let [told, expected] = self.told.each_ref().map(Told::take);
        assert_eq!(told, expected, "{path}");
        answer
    }

    /// GET, and what it asks of the storage.
    pub(crate) async fn asks(&self, path: &str, status: u16, calls: &[Call]) -> Answer {
        let answer = self.get(path).await;
        assert_eq!((answer.status.as_u16(), &*self.remote.take()), (status, calls), "{path}");
        answer
    }

    pub(crate) async fn retitle(&self, title: &str) {
        self.app.put([Course { title: title.to_owned(), ..course("c", 0) }]).await;
    }
}

//! Concurrent requests for one response: one reads, the others wait for it.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use catalogue_core::auth::{Credential, TokenDigest};
use catalogue_core::observe::{FinishedRequest, Observer};
use catalogue_core::storage::{
    AtRevision, CourseRows, CourseStorage, CredentialStorage, MemoryStorage, PageRequest, Revision, StorageError,
    StorageErrorKind,
};
use catalogue_core::{AccountId, Catalogue, CourseDetail, async_trait};
use http::{Request, Response};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::app::{OWNER, TestApp, course};

const LIST: &str = "/api/v1/courses";

/// The way in which a read ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Succeeded,
    Failed,
    Panicked,
}

/// A storage whose reads of courses end when and how a test decides.
#[derive(Debug)]
struct BlockingStorage {
    memory: MemoryStorage,
    reads: AtomicUsize,
    ends: tokio::sync::Mutex<UnboundedReceiver<End>>,
}

impl BlockingStorage {
    async fn wait_for_end(&self) -> Result<(), StorageError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        match self.ends.lock().await.recv().await.unwrap() {
            End::Succeeded => Ok(()),
            End::Failed => Err(StorageError::new(StorageErrorKind::Unavailable, "took too long")),
            End::Panicked => panic!("as instructed"),
        }
    }
}

#[async_trait]
impl CourseStorage for BlockingStorage {
    async fn list_courses(
        &self,
        account: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Revision>, StorageError> {
        self.wait_for_end().await?;
        self.memory.list_courses(account, page, rows).await
    }

    async fn find_course(
        &self,
        account: &AccountId,
        slug: &str,
    ) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
        self.wait_for_end().await?;
        self.memory.find_course(account, slug).await
    }

    async fn revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        self.memory.revision(account).await
    }
}

#[async_trait]
impl CredentialStorage for BlockingStorage {
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        self.memory.find_credential(digest).await
    }
}

/// Causes of failed requests.
#[derive(Clone, Debug, Default)]
struct Causes(Arc<Mutex<Vec<String>>>);

impl Observer for Causes {
    fn finished(&self, request: &FinishedRequest<'_>) {
        self.0.lock().unwrap().extend(request.failure.map(ToString::to_string));
    }
}

/// A catalogue over one course, its storage, and a sender that ends reads of the storage.
struct Fixture {
    catalogue: Catalogue,
    storage: Arc<BlockingStorage>,
    causes: Causes,
    token: String,
    ends: UnboundedSender<End>,
}

type Call<'a> = Pin<Box<dyn Future<Output = Response<bytes::Bytes>> + 'a>>;

impl Fixture {
    async fn new() -> Self {
        let app = TestApp::new().await;
        app.put([course("c", 0)]).await;
        let token = app.key(OWNER, "read:courses").await;
        let (ends, receiver) = unbounded_channel();
        let storage =
            Arc::new(BlockingStorage { memory: app.storage, reads: AtomicUsize::new(0), ends: receiver.into() });
        let causes = Causes::default();
        let builder = Catalogue::with_api_keys(Arc::clone(&storage)).observer(causes.clone());
        Self { catalogue: builder.build().unwrap(), storage, causes, token, ends }
    }

    fn call(&self, path: &str) -> Call<'_> {
        let request = Request::get(path).header("authorization", format!("Bearer {}", self.token));
        Box::pin(self.catalogue.call(request.body(()).unwrap()))
    }

    /// Starts `N` calls: the first one reads, and the others wait for it.
    async fn calls<const N: usize>(&self, path: &str) -> [Call<'_>; N] {
        let mut calls = [(); N].map(|()| self.call(path));
        for call in &mut calls {
            assert_eq!(poll(call).await, None);
        }
        assert_eq!(self.reads(), 1);
        calls
    }

    fn end(&self, end: End) {
        self.ends.send(end).unwrap();
    }

    fn reads(&self) -> usize {
        self.storage.reads.load(Ordering::SeqCst)
    }
}

/// Returns the status if the call is complete.
async fn poll(call: &mut Call<'_>) -> Option<u16> {
    tokio::select! {
        biased;
        response = call => Some(response.status().as_u16()),
        () = async {} => None,
    }
}

/// Returns the statuses of all calls, in any order. Any call may read for the others, so each is polled up to twice.
async fn statuses(mut calls: Vec<Call<'_>>) -> Vec<u16> {
    let mut statuses = Vec::new();
    for _ in 0..2 {
        let mut waiting = Vec::new();
        for mut call in calls {
            match poll(&mut call).await {
                Some(status) => statuses.push(status),
                None => waiting.push(call),
            }
        }
        calls = waiting;
    }
    assert!(calls.is_empty(), "{} still wait", calls.len());
    statuses
}

#[tokio::test]
async fn waiters_fail_when_the_leader_fails() {
    for end in [End::Failed, End::Panicked] {
        let fixture = Fixture::new().await;
        let calls: [_; 8] = fixture.calls(LIST).await;
        fixture.end(end);
        for mut call in calls {
            assert_eq!(poll(&mut call).await, Some(500), "{end:?}");
        }
        assert_eq!(fixture.reads(), 1, "{end:?}");
        let causes = std::mem::take(&mut *fixture.causes.0.lock().unwrap());
        let (first, others) = causes.split_first().unwrap();
        assert!(["took too long", "panicked: as instructed"].contains(&&**first), "{first}");
        assert!(
            others.len() == 7 && others.iter().all(|cause| cause.contains("the concurrent request that rendered")),
            "{others:?}"
        );
        // The next request reads again.
        fixture.end(End::Succeeded);
        assert_eq!(poll(&mut fixture.call(LIST)).await, Some(200), "{end:?}");
        assert_eq!((fixture.reads(), fixture.catalogue.page_cache().hits), (2, 0), "{end:?}");
    }
}

#[tokio::test]
async fn waiter_reads_for_all_when_leader_is_dropped() {
    let fixture = Fixture::new().await;
    let [first, mut others @ ..]: [_; 8] = fixture.calls(LIST).await;
    drop(first);
    for call in &mut others {
        assert_eq!(poll(call).await, None);
    }
    assert_eq!(fixture.reads(), 2);
    fixture.end(End::Succeeded);
    assert_eq!(statuses(others.into()).await, [200; 7]);
    assert_eq!(fixture.reads(), 2);
}

#[tokio::test]
async fn waiters_fail_when_second_leader_fails() {
    let fixture = Fixture::new().await;
    let [first, mut others @ ..]: [_; 4] = fixture.calls(LIST).await;
    drop(first);
    for call in &mut others {
        assert_eq!(poll(call).await, None);
    }
    fixture.end(End::Failed);
    assert_eq!(statuses(others.into()).await, [500; 3]);
    assert_eq!(fixture.reads(), 2);
}

#[tokio::test]
async fn waiters_get_404_for_missing_course() {
    let fixture = Fixture::new().await;
    let calls: [_; 3] = fixture.calls("/api/v1/courses/none").await;
    for _ in 0..3 {
        fixture.end(End::Succeeded);
    }
    for mut call in calls {
        assert_eq!(poll(&mut call).await, Some(404));
    }
}

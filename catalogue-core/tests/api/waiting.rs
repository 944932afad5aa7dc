//! Requests for the same answer at the same time: one reads, the others wait for it.

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

/// How a read ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Succeeded,
    Failed,
    Panicked,
}

/// A storage whose reads of courses end when and how they are told to.
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
            End::Panicked => panic!("as it was told to"),
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

/// The causes of failed requests.
#[derive(Clone, Debug, Default)]
struct Causes(Arc<Mutex<Vec<String>>>);

impl Observer for Causes {
    fn finished(&self, request: &FinishedRequest<'_>) {
        self.0.lock().unwrap().extend(request.failure.map(ToString::to_string));
    }
}

/// A catalogue over one course, and the other end of its storage.
struct Library {
    catalogue: Catalogue,
    storage: Arc<BlockingStorage>,
    causes: Causes,
    token: String,
    ends: UnboundedSender<End>,
}

type Call<'a> = Pin<Box<dyn Future<Output = Response<bytes::Bytes>> + 'a>>;

impl Library {
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

    /// The first one's read has begun, and the others wait for it.
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

/// The status, if the call is answered now.
async fn poll(call: &mut Call<'_>) -> Option<u16> {
    tokio::select! {
        biased;
        response = call => Some(response.status().as_u16()),
        () = async {} => None,
    }
}

/// The statuses of calls of which any may be the one that reads for the others.
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
async fn who_waited_for_a_read_that_failed_fails_with_it() {
    for end in [End::Failed, End::Panicked] {
        let library = Library::new().await;
        let calls: [_; 8] = library.calls(LIST).await;
        library.end(end);
        for mut call in calls {
            assert_eq!(poll(&mut call).await, Some(500), "{end:?}");
        }
        assert_eq!(library.reads(), 1, "{end:?}");
        let causes = std::mem::take(&mut *library.causes.0.lock().unwrap());
        let (first, others) = causes.split_first().unwrap();
        assert!(["took too long", "panicked: as it was told to"].contains(&&**first), "{first}");
        assert!(others.len() == 7 && others.iter().all(|cause| cause.contains("another request")), "{others:?}");
        // The next one has a read of its own.
        library.end(End::Succeeded);
        assert_eq!(poll(&mut library.call(LIST)).await, Some(200), "{end:?}");
        assert_eq!((library.reads(), library.catalogue.page_cache().hits), (2, 0), "{end:?}");
    }
}

#[tokio::test]
async fn one_of_those_who_waited_for_a_caller_that_went_away_reads_for_all() {
    let library = Library::new().await;
    let [first, mut others @ ..]: [_; 8] = library.calls(LIST).await;
    drop(first);
    for call in &mut others {
        assert_eq!(poll(call).await, None);
    }
    assert_eq!(library.reads(), 2);
    library.end(End::Succeeded);
    assert_eq!(statuses(others.into()).await, [200; 7]);
    assert_eq!(library.reads(), 2);
}

#[tokio::test]
async fn who_waited_for_one_after_the_other_fails_with_the_last() {
    let library = Library::new().await;
    let [first, mut others @ ..]: [_; 4] = library.calls(LIST).await;
    drop(first);
    for call in &mut others {
        assert_eq!(poll(call).await, None);
    }
    library.end(End::Failed);
    assert_eq!(statuses(others.into()).await, [500; 3]);
    assert_eq!(library.reads(), 2);
}

#[tokio::test]
async fn what_is_not_there_is_no_failure_of_those_who_wait() {
    let library = Library::new().await;
    let calls: [_; 3] = library.calls("/api/v1/courses/none").await;
    for _ in 0..3 {
        library.end(End::Succeeded);
    }
    for mut call in calls {
        assert_eq!(poll(&mut call).await, Some(404));
    }
}

//! Concurrent requests for one response: one reads, the others wait for it.

use std::pin::Pin;
use std::sync::Arc;

use catalogue_core::storage::{MemoryStorage, StorageError, StorageErrorKind};
use catalogue_core::{Catalogue, Course};
use catalogue_storage_tests::intercept::{Intercept, Point};
use http::{Request, Response};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::app::{TestApp, course};
use crate::observer::Recorder;
use crate::page_cache::READS;

const LIST: &str = "/api/v1/courses";

/// The way in which a read ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Succeeded,
    Failed,
    Panicked,
}

/// A catalogue over one course, whose reads end when and how a test decides.
struct Fixture {
    app: TestApp,
    storage: Arc<Intercept<MemoryStorage>>,
    /// Causes of failed requests.
    causes: Arc<Recorder<Option<String>>>,
    token: String,
    ends: UnboundedSender<End>,
}

type Call<'a> = Pin<Box<dyn Future<Output = Response<bytes::Bytes>> + 'a>>;

impl Fixture {
    async fn new() -> Self {
        let (mut app, token) = TestApp::with_courses([course("c", 0)]).await;
        let (ends, receiver) = unbounded_channel();
        let receiver = Arc::new(tokio::sync::Mutex::new(receiver));
        let storage = Intercept::new(app.storage.clone()).on_call(move |call, point| {
            let receiver = Arc::clone(&receiver);
            async move {
                if !READS.contains(&call) || point != Point::Begun {
                    return Ok(());
                }
                match receiver.lock().await.recv().await.unwrap() {
                    End::Succeeded => Ok(()),
                    End::Failed => Err(StorageError::new(StorageErrorKind::Unavailable, "took too long")),
                    End::Panicked => panic!("as instructed"),
                }
            }
        });
        let (storage, causes) = (Arc::new(storage), Recorder::of(|request| request.failure.map(ToString::to_string)));
        let builder = Catalogue::with_api_keys(Arc::clone(&storage)).observer(Arc::clone(&causes));
        app.catalogue = builder.build().unwrap();
        Self { app, storage, causes, token, ends }
    }

    fn call(&self, path: &str) -> Call<'_> {
        let request = Request::get(path).header("authorization", format!("Bearer {}", self.token));
        Box::pin(self.app.catalogue.call(request.body(()).unwrap()))
    }

    /// Starts `N` calls: the first one reads, and the others wait for it.
    async fn calls<const N: usize>(&self, path: &str) -> [Call<'_>; N] {
        let mut calls = [(); N].map(|()| self.call(path));
        assert_waiting(&mut calls).await;
        assert_eq!(self.reads(), 1);
        calls
    }

    fn end(&self, end: End) {
        self.ends.send(end).unwrap();
    }

    fn reads(&self) -> usize {
        self.storage.count(&READS)
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

async fn assert_waiting(calls: &mut [Call<'_>]) {
    for call in calls {
        assert_eq!(poll(call).await, None);
    }
}

/// Returns the statuses of all calls, in any order. Any call may read for the others, and each poll ends at least one.
async fn statuses(mut calls: Vec<Call<'_>>) -> Vec<u16> {
    let mut statuses = Vec::new();
    for _ in 0..calls.len() {
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
async fn waiters_share_the_response_of_the_leader() {
    let fixture = Fixture::new().await;
    let calls: [_; 10] = fixture.calls(LIST).await;
    assert_eq!(fixture.app.catalogue.in_flight(), 10);
    // If each request read the list, nine would get no end.
    fixture.end(End::Succeeded);
    assert_eq!(statuses(calls.into()).await, [200; 10]);
    assert_eq!((fixture.reads(), fixture.app.catalogue.in_flight()), (1, 0));
}

#[tokio::test]
async fn waiters_read_concurrently_when_response_is_not_cacheable() {
    let fixture = Fixture::new().await;
    let [mut leader, mut others @ ..]: [_; 10] = fixture.calls(LIST).await;
    // The courses change while the leader reads, so its response cannot be cached for the others.
    fixture.app.put([Course { title: "Changed".to_owned(), ..course("c", 0) }]).await;
    fixture.end(End::Succeeded);
    assert_eq!(poll(&mut leader).await, Some(200));
    // Each waiter wakes the next one.
    for _ in 0..9 {
        assert_waiting(&mut others).await;
    }
    assert_eq!(fixture.reads(), 10, "all waiters read at the same time");
    for _ in 0..9 {
        fixture.end(End::Succeeded);
    }
    assert_eq!(statuses(others.into()).await, [200; 9]);
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
        let causes: Vec<_> = fixture.causes.take().into_iter().flatten().collect();
        let (first, others) = causes.split_first().unwrap();
        assert!(["took too long", "panicked: as instructed"].contains(&&**first), "{first}");
        assert!(
            others.len() == 7 && others.iter().all(|cause| cause.contains("the concurrent request that rendered")),
            "{others:?}"
        );
        // The next request reads again.
        fixture.end(End::Succeeded);
        assert_eq!(poll(&mut fixture.call(LIST)).await, Some(200), "{end:?}");
        assert_eq!((fixture.reads(), fixture.app.catalogue.page_cache().hits), (2, 0), "{end:?}");
    }
}

#[tokio::test]
async fn waiter_reads_for_all_when_leader_is_dropped() {
    for (end, status) in [(End::Succeeded, 200), (End::Failed, 500)] {
        let fixture = Fixture::new().await;
        let [first, mut others @ ..]: [_; 8] = fixture.calls(LIST).await;
        drop(first);
        assert_waiting(&mut others).await;
        assert_eq!(fixture.reads(), 2);
        fixture.end(end);
        assert_eq!(statuses(others.into()).await, [status; 7], "{end:?}");
        assert_eq!(fixture.reads(), 2);
    }
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

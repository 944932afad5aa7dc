//! Another program locks the database: a read waits a moment, offloaded if the host can, then fails.

use std::sync::Arc;
use std::time::{Duration, Instant};

use catalogue_core::admin::AdminStorage;
use catalogue_core::{AccountId, Catalogue};
use catalogue_sqlite::SqliteStorage;
use http::{Request, Response};
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::{course, database_in, fixture, import_one_course, key_of};

const LIST: &str = "/api/v1/courses";
/// How long an answer may take on a busy machine. It waits for a lock at most a second.
const MAX_WAIT: Duration = Duration::from_secs(3);

/// A catalogue over a file that nobody has open yet, and a key that reads it.
#[derive(Clone)]
struct Closed {
    catalogue: Catalogue,
    token: String,
    directory: Arc<TempDir>,
}

impl Closed {
    async fn new() -> Self {
        let (storage, directory) = fixture().await;
        let account = import_one_course(&storage).await;
        // By a storage of its own: this one has no connection open yet.
        let token = key_of(&SqliteStorage::open(database_in(&directory)).unwrap(), &account).await;
        let storage = storage.offload_reads(|read| tokio::task::block_in_place(read));
        Self { catalogue: Catalogue::with_api_keys(storage).build().unwrap(), token, directory: Arc::new(directory) }
    }

    async fn without_a_wal() -> (Self, Connection) {
        let closed = Self::new().await;
        let host = closed.host();
        host.query_row("PRAGMA journal_mode = delete", [], |_| Ok(())).unwrap();
        (closed, host)
    }

    fn host(&self) -> Connection {
        Connection::open(database_in(&self.directory)).unwrap()
    }

    async fn get(&self, path: &str) -> Response<bytes::Bytes> {
        get(&self.catalogue, &self.token, path).await
    }

    /// Asks for the list on the runtime's only worker.
    fn begin(&self) -> JoinHandle<Response<bytes::Bytes>> {
        let closed = self.clone();
        tokio::spawn(async move { closed.get(LIST).await })
    }

    /// Whether the worker serves another request while that one waits.
    async fn serves_others(&self, waiting: &JoinHandle<Response<bytes::Bytes>>) -> bool {
        let closed = self.clone();
        let docs = tokio::spawn(async move { closed.get("/docs").await }).await.unwrap();
        docs.status() == 200 && !waiting.is_finished()
    }
}

async fn get(catalogue: &Catalogue, token: &str, path: &str) -> Response<bytes::Bytes> {
    catalogue.call(Request::get(path).header("authorization", format!("Bearer {token}")).body(()).unwrap()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn others_of_the_thread_are_answered_and_the_request_fails_soon() {
    let (closed, host) = Closed::without_a_wal().await;
    host.execute_batch("BEGIN EXCLUSIVE").unwrap();
    for _ in 0..2 {
        let began = Instant::now();
        let call = closed.begin();
        assert!(closed.serves_others(&call).await);
        assert_eq!(call.await.unwrap().status(), 500);
        assert!(began.elapsed() < MAX_WAIT, "{:?}", began.elapsed());
    }
    host.execute_batch("COMMIT").unwrap();
    assert_eq!(closed.get(LIST).await.status(), 200);
}

/// A host that says nothing of its runtime has its thread wait.
#[tokio::test]
async fn without_an_offload_the_request_fails_as_soon() {
    let (storage, directory) = fixture().await;
    let account = import_one_course(&storage).await;
    let token = key_of(&SqliteStorage::open(database_in(&directory)).unwrap(), &account).await;
    let catalogue = Catalogue::with_api_keys(storage).build().unwrap();
    let host = Connection::open(database_in(&directory)).unwrap();
    host.query_row("PRAGMA journal_mode = delete", [], |_| Ok(())).unwrap();
    host.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let began = Instant::now();
    assert_eq!(get(&catalogue, &token, LIST).await.status(), 500);
    assert!(began.elapsed() < MAX_WAIT, "{:?}", began.elapsed());
    host.execute_batch("COMMIT").unwrap();
    assert_eq!(get(&catalogue, &token, LIST).await.status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_lock_that_is_soon_over_is_waited_for() {
    let (closed, host) = Closed::without_a_wal().await;
    // The second time over a connection that is there.
    for _ in 0..2 {
        host.execute_batch("BEGIN EXCLUSIVE").unwrap();
        let call = closed.begin();
        assert!(closed.serves_others(&call).await);
        host.execute_batch("COMMIT").unwrap();
        let answer = call.await.unwrap();
        assert_eq!(answer.status(), 200);
        let body = String::from_utf8_lossy(answer.body());
        assert_eq!(body.matches("\"slug\"").count(), 1, "a row is handed over once, also by a read that began again");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn many_that_wait_fail_together() {
    let (closed, host) = Closed::without_a_wal().await;
    host.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let began = Instant::now();
    let calls: Vec<_> = (0..50).map(|_| closed.begin()).collect();
    for call in calls {
        assert_eq!(call.await.unwrap().status(), 500);
    }
    assert!(began.elapsed() < MAX_WAIT, "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_program_that_has_the_wal_for_itself() {
    let closed = Closed::new().await;
    let host = closed.host();
    host.execute_batch("PRAGMA locking_mode = exclusive; BEGIN IMMEDIATE; COMMIT").unwrap();
    let call = closed.begin();
    assert!(closed.serves_others(&call).await);
    assert_eq!(call.await.unwrap().status(), 500);
    drop(host);
    assert_eq!(closed.get(LIST).await.status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn an_import_in_memory() {
    let storage = SqliteStorage::in_memory().unwrap().offload_reads(|read| tokio::task::block_in_place(read));
    let account = import_one_course(&storage).await;
    let token = key_of(&storage, &account).await;
    let catalogue = Catalogue::with_api_keys(storage.clone()).build().unwrap();
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let shared = Closed { catalogue: catalogue.clone(), token: token.clone(), directory };
    let import_more = async || {
        let mut import = storage.begin_import().await.unwrap();
        import.put_course(&course(&AccountId::new("acc"))).await.unwrap();
        import
    };

    let import = import_more().await;
    let call = shared.begin();
    assert!(shared.serves_others(&call).await);
    import.commit().await.unwrap();
    assert_eq!(call.await.unwrap().status(), 200);

    let import = import_more().await;
    let began = Instant::now();
    assert_eq!(get(&catalogue, &token, "/api/v1/courses/course").await.status(), 500);
    assert!(began.elapsed() < MAX_WAIT, "{:?}", began.elapsed());
    import.commit().await.unwrap();
    assert_eq!(get(&catalogue, &token, "/api/v1/courses/course").await.status(), 200);
}

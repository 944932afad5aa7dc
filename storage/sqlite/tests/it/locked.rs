//! Another program locks the database: a read waits briefly, offloaded if the host application can, then fails.

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
/// Timeout for a response on a busy machine. A request waits for a lock for at most a second.
const MAX_WAIT: Duration = Duration::from_secs(3);

/// A catalogue over a file that has no open connection yet, and a key that reads it.
#[derive(Clone)]
struct ClosedDatabase {
    catalogue: Catalogue,
    token: String,
    directory: Arc<TempDir>,
}

impl ClosedDatabase {
    async fn new() -> Self {
        let (storage, directory) = fixture().await;
        let account = import_one_course(&storage).await;
        // Use a separate storage: the catalogue's must have no open connection yet.
        let token = key_of(&SqliteStorage::open(database_in(&directory)).unwrap(), &account).await;
        let storage = storage.offload_reads(|read| tokio::task::block_in_place(read));
        Self { catalogue: Catalogue::with_api_keys(storage).build().unwrap(), token, directory: Arc::new(directory) }
    }

    async fn without_a_wal() -> (Self, Connection) {
        let database = Self::new().await;
        let host = database.host();
        host.query_row("PRAGMA journal_mode = delete", [], |_| Ok(())).unwrap();
        (database, host)
    }

    fn host(&self) -> Connection {
        Connection::open(database_in(&self.directory)).unwrap()
    }

    async fn get(&self, path: &str) -> Response<bytes::Bytes> {
        get(&self.catalogue, &self.token, path).await
    }

    /// Requests the list on the runtime's only worker.
    fn begin(&self) -> JoinHandle<Response<bytes::Bytes>> {
        let database = self.clone();
        tokio::spawn(async move { database.get(LIST).await })
    }

    /// Returns whether the worker serves another request while `waiting` waits.
    async fn serves_others(&self, waiting: &JoinHandle<Response<bytes::Bytes>>) -> bool {
        let database = self.clone();
        let docs = tokio::spawn(async move { database.get("/docs").await }).await.unwrap();
        docs.status() == 200 && !waiting.is_finished()
    }
}

async fn get(catalogue: &Catalogue, token: &str, path: &str) -> Response<bytes::Bytes> {
    catalogue.call(Request::get(path).header("authorization", format!("Bearer {token}")).body(()).unwrap()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn locked_read_fails_within_timeout_without_blocking_worker() {
    let (database, host) = ClosedDatabase::without_a_wal().await;
    host.execute_batch("BEGIN EXCLUSIVE").unwrap();
    for _ in 0..2 {
        let began = Instant::now();
        let call = database.begin();
        assert!(database.serves_others(&call).await);
        assert_eq!(call.await.unwrap().status(), 500);
        assert!(began.elapsed() < MAX_WAIT, "{:?}", began.elapsed());
    }
    host.execute_batch("COMMIT").unwrap();
    assert_eq!(database.get(LIST).await.status(), 200);
}

/// Without an offload function, the request blocks its thread.
#[tokio::test]
async fn locked_read_fails_within_timeout_without_offload() {
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
async fn read_waits_for_short_lock() {
    let (database, host) = ClosedDatabase::without_a_wal().await;
    // The second round uses the connection that the first one opened.
    for _ in 0..2 {
        host.execute_batch("BEGIN EXCLUSIVE").unwrap();
        let call = database.begin();
        assert!(database.serves_others(&call).await);
        host.execute_batch("COMMIT").unwrap();
        let response = call.await.unwrap();
        assert_eq!(response.status(), 200);
        let body = String::from_utf8_lossy(response.body());
        assert_eq!(body.matches("\"slug\"").count(), 1, "each row is returned once, even by a retried read");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn concurrent_waiters_fail_within_one_timeout() {
    let (database, host) = ClosedDatabase::without_a_wal().await;
    host.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let began = Instant::now();
    let calls: Vec<_> = (0..50).map(|_| database.begin()).collect();
    for call in calls {
        assert_eq!(call.await.unwrap().status(), 500);
    }
    assert!(began.elapsed() < MAX_WAIT, "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn read_fails_while_host_holds_exclusive_wal() {
    let database = ClosedDatabase::new().await;
    let host = database.host();
    host.execute_batch("PRAGMA locking_mode = exclusive; BEGIN IMMEDIATE; COMMIT").unwrap();
    let call = database.begin();
    assert!(database.serves_others(&call).await);
    assert_eq!(call.await.unwrap().status(), 500);
    drop(host);
    assert_eq!(database.get(LIST).await.status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn in_memory_reads_wait_for_import() {
    let storage = SqliteStorage::in_memory().unwrap().offload_reads(|read| tokio::task::block_in_place(read));
    let account = import_one_course(&storage).await;
    let token = key_of(&storage, &account).await;
    let catalogue = Catalogue::with_api_keys(storage.clone()).build().unwrap();
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let shared = ClosedDatabase { catalogue: catalogue.clone(), token: token.clone(), directory };
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

//! Another program locks the database: a read waits briefly, offloaded if the host application can, then fails.

use std::time::{Duration, Instant};

use catalogue_core::admin::AdminStorage;
use catalogue_core::storage::{CourseRow, CourseRows, CourseStorage as _, PageRequest};
use catalogue_sqlite::SqliteStorage;
use catalogue_storage_tests::database::Api;
use http::Response;
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::{course, database_in, fixture, import_one_course, key_of};

const LIST: &str = "/api/v1/courses";
/// Timeout for a response on a busy machine. A request waits for a lock for at most a second.
const MAX_WAIT: Duration = Duration::from_secs(3);

/// Requests the list on the runtime's only worker.
fn begin(api: &Api) -> JoinHandle<Response<bytes::Bytes>> {
    let api = api.clone();
    tokio::spawn(async move { api.get(LIST, "").await })
}

/// Returns whether the worker serves another request while `waiting` waits.
async fn serves_others(api: &Api, waiting: &JoinHandle<Response<bytes::Bytes>>) -> bool {
    let api = api.clone();
    let docs = tokio::spawn(async move { api.get("/docs", "").await }).await.unwrap();
    docs.status() == 200 && !waiting.is_finished()
}

fn offload(storage: SqliteStorage) -> SqliteStorage {
    storage.offload_reads(|read| tokio::task::block_in_place(read))
}

/// Returns a catalogue over a file that has no open connection but the host application's, without a WAL.
async fn closed_database(configure: fn(SqliteStorage) -> SqliteStorage) -> (Api, Connection, TempDir) {
    let (storage, directory) = fixture().await;
    let account = import_one_course(&storage).await;
    // Use a separate storage: the catalogue's must have no open connection yet.
    let token = key_of(&SqliteStorage::open(database_in(&directory)).unwrap(), &account).await;
    let host = Connection::open(database_in(&directory)).unwrap();
    host.query_row("PRAGMA journal_mode = delete", [], |_| Ok(())).unwrap();
    (Api::new(configure(storage), token), host, directory)
}

/// Without an offload function, the request blocks its thread; otherwise, the worker serves other requests.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn locked_read_fails_within_timeout_with_or_without_offload() {
    for (configure, is_offloaded) in [(offload as fn(_) -> _, true), (|storage| storage, false)] {
        let (api, host, _directory) = closed_database(configure).await;
        host.execute_batch("BEGIN EXCLUSIVE").unwrap();
        for _ in 0..2 {
            let began = Instant::now();
            let call = begin(&api);
            assert!(!is_offloaded || serves_others(&api, &call).await);
            assert_eq!(call.await.unwrap().status(), 500);
            assert!(began.elapsed() < MAX_WAIT, "{:?}", began.elapsed());
        }
        host.execute_batch("COMMIT").unwrap();
        assert_eq!(api.get(LIST, "").await.status(), 200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn read_waits_for_short_lock() {
    let (api, host, _directory) = closed_database(offload).await;
    // The second round uses the connection that the first one opened.
    for _ in 0..2 {
        host.execute_batch("BEGIN EXCLUSIVE").unwrap();
        let call = begin(&api);
        assert!(serves_others(&api, &call).await);
        host.execute_batch("COMMIT").unwrap();
        let response = call.await.unwrap();
        assert_eq!(response.status(), 200);
        let body = String::from_utf8_lossy(response.body());
        assert_eq!(body.matches("\"slug\"").count(), 1, "each row is returned once, even by a retried read");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn concurrent_waiters_fail_within_one_timeout() {
    let (api, host, _directory) = closed_database(offload).await;
    host.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let began = Instant::now();
    let calls: Vec<_> = (0..50).map(|_| begin(&api)).collect();
    for call in calls {
        assert_eq!(call.await.unwrap().status(), 500);
    }
    assert!(began.elapsed() < MAX_WAIT, "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn read_fails_while_host_holds_exclusive_wal() {
    let (api, host, _directory) = closed_database(offload).await;
    host.query_row("PRAGMA journal_mode = wal", [], |_| Ok(())).unwrap();
    host.execute_batch("PRAGMA locking_mode = exclusive; BEGIN IMMEDIATE; COMMIT").unwrap();
    let call = begin(&api);
    assert!(serves_others(&api, &call).await);
    assert_eq!(call.await.unwrap().status(), 500);
    drop(host);
    assert_eq!(api.get(LIST, "").await.status(), 200);
}

/// The rows are buffered, so another program can lock the database before they are processed.
#[tokio::test]
async fn page_read_before_lock_is_returned_without_revision() {
    let (storage, directory) = fixture().await;
    let account = import_one_course(&storage).await;
    let host = Connection::open(database_in(&directory)).unwrap();
    host.query_row("PRAGMA journal_mode = delete", [], |_| Ok(())).unwrap();
    let page = PageRequest::default();
    let mut lock = move |_: CourseRow<'_>| host.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let revision = storage.list_courses(&account, &page, &mut CourseRows::new(page.limit, &mut lock)).await.unwrap();
    assert_eq!(revision, None);
    drop(lock);
    let revision = storage.list_courses(&account, &page, &mut CourseRows::new(page.limit, &mut |_| ())).await.unwrap();
    assert!(revision.is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn in_memory_reads_wait_for_import() {
    let storage = offload(SqliteStorage::in_memory().unwrap());
    let account = import_one_course(&storage).await;
    let api = Api::new(storage.clone(), key_of(&storage, &account).await);
    let import_more = async || {
        let mut import = storage.begin_import().await.unwrap();
        import.put_course(&course(&account)).await.unwrap();
        import
    };

    let import = import_more().await;
    let call = begin(&api);
    assert!(serves_others(&api, &call).await);
    import.commit().await.unwrap();
    assert_eq!(call.await.unwrap().status(), 200);

    let import = import_more().await;
    let began = Instant::now();
    assert_eq!(api.get("/api/v1/courses/course", "").await.status(), 500);
    assert!(began.elapsed() < MAX_WAIT, "{:?}", began.elapsed());
    import.commit().await.unwrap();
    assert_eq!(api.get("/api/v1/courses/course", "").await.status(), 200);
}

//! Failures of the database: closed connections, restarts, slow reads, and refused connections.

use std::num::NonZeroUsize;
use std::thread;

use catalogue_core::AccountId;
use catalogue_core::admin::AdminStorage;
use catalogue_core::storage::{CourseStorage, CredentialStorage, PageRequest, StorageError, StorageErrorKind};
use catalogue_postgres::{OpenError, PostgresStorage};
use catalogue_storage_tests::database::Api;
use tokio::runtime::Builder;
use tokio_postgres::Client;

use crate::schema::Schema;
use crate::stress::wait_until;
use crate::{course, import_one_course, items, key_of};
use catalogue_postgres_cluster::Cluster;

fn connections(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).unwrap()
}

pub(crate) async fn lists(storage: &PostgresStorage, account: &AccountId) -> Result<usize, StorageErrorKind> {
    let items = items(storage, account, &PageRequest::default()).await;
    items.map(|items| items.len()).map_err(|error| error.kind())
}

pub(crate) fn kind<T>(outcome: Result<T, StorageError>) -> Option<StorageErrorKind> {
    outcome.err().map(|error| error.kind())
}

/// Ends every other session of the test, and waits until they have ended.
async fn end_sessions(host: &Client) {
    let end = "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()";
    let ended: Vec<i32> = host.query(end, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert!(!ended.is_empty());
    let left = "SELECT 1 FROM pg_stat_activity WHERE pid = ANY($1)";
    wait_until(async || host.query(left, &[&ended]).await.unwrap().is_empty()).await;
}

#[tokio::test]
async fn read_over_closed_connection_is_retried() {
    let Some((schema, storage, account)) = Schema::with_course().await else { return };
    for _ in 0..10 {
        let reads = futures_util::future::join_all((0..5).map(|_| lists(&storage, &account))).await;
        assert_eq!(reads, [Ok(1); 5]);
        // The scope blocks this thread's runtime, so the next read is the first to notice that its connection is closed.
        thread::scope(|scope| {
            let schema = &schema;
            let end = async move || end_sessions(&schema.host().await).await;
            scope.spawn(move || Builder::new_current_thread().enable_all().build().unwrap().block_on(end()));
        });
        assert_eq!(lists(&storage, &account).await, Ok(1));
    }
}

#[tokio::test]
async fn read_is_retried_when_connection_closes_before_response() {
    let Some((schema, storage, account)) = Schema::with_course().await else { return };
    let (host, another) = (schema.host().await, schema.host().await);
    host.batch_execute("SET application_name = 'not of this test'").await.unwrap();
    host.batch_execute("BEGIN; LOCK TABLE courses IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let read = tokio::spawn(async move { lists(&storage, &account).await });
    let waiting = "SELECT 1 FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid \
                   WHERE NOT l.granted AND a.application_name = current_setting('application_name')";
    wait_until(async || !another.query(waiting, &[]).await.unwrap().is_empty()).await;
    end_sessions(&another).await;
    host.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(read.await.unwrap(), Ok(1));
}

#[tokio::test]
async fn read_that_ends_each_session_is_retried_once() {
    let Some((schema, storage, account)) = Schema::with_course().await else { return };
    let trap = "CREATE FUNCTION end_session() RETURNS BOOLEAN LANGUAGE plpgsql AS $$ BEGIN \
                PERFORM pg_terminate_backend(pg_backend_pid()); RETURN TRUE; END $$; \
                ALTER TABLE accounts RENAME TO stored; \
                CREATE VIEW accounts AS SELECT k.id, k.name, k.email, k.revision FROM stored AS k WHERE end_session()";
    schema.host().await.batch_execute(trap).await.unwrap();
    // A read that was retried until its deadline would report a timeout instead.
    let error = storage.revision(&account).await.unwrap_err();
    assert!(error.to_string().contains("starting or shutting down"), "{error}");
}

#[tokio::test]
async fn read_timeout_does_not_fail_later_reads() {
    let Some((schema, _, account)) = Schema::with_course().await else { return };
    // Use one connection, so that a failed read which did not release it would be noticed.
    for options in [schema.options(), schema.options().through_transaction_pooler()] {
        let storage = PostgresStorage::open(&options.connections(connections(1))).await.unwrap();
        let host = schema.host().await;
        host.batch_execute("BEGIN; LOCK TABLE courses IN ACCESS EXCLUSIVE MODE").await.unwrap();
        // The connection is open, and the response never arrives: the clock advances to the deadline immediately.
        tokio::time::pause();
        let failed = futures_util::future::join(lists(&storage, &account), lists(&storage, &account)).await;
        tokio::time::resume();
        assert_eq!(failed, (Err(StorageErrorKind::Unavailable), Err(StorageErrorKind::Unavailable)));
        host.batch_execute("ROLLBACK").await.unwrap();
        assert_eq!(lists(&storage, &account).await, Ok(1));
    }
}

#[tokio::test]
async fn reads_wait_for_a_connection() {
    let Some((schema, _, account)) = Schema::with_course().await else { return };
    let storage = PostgresStorage::open(&schema.options().connections(connections(1))).await.unwrap();
    let reads = futures_util::future::join_all((0..50).map(|_| lists(&storage, &account))).await;
    assert_eq!(reads, [Ok(1); 50]);
}

#[tokio::test]
async fn reads_share_connections_within_role_limit() {
    let Some((schema, _, account)) = Schema::with_course().await else { return };
    let host = schema.host().await;
    let name = schema.name();
    let make = format!(
        "CREATE ROLE single LOGIN CONNECTION LIMIT 1; GRANT USAGE ON SCHEMA {name} TO single; \
         GRANT SELECT ON ALL TABLES IN SCHEMA {name} TO single"
    );
    host.batch_execute(&make).await.unwrap();
    let address = schema.address().replace("user=postgres", "user=single");
    let options = Schema::options_of(&address);
    // A session that has ended may still be counted for a moment, here and below.
    let storage = loop {
        match PostgresStorage::open(&options).await {
            Ok(storage) => break storage,
            Err(OpenError::Failed(error)) if error.kind() == StorageErrorKind::Unavailable => {}
            Err(error) => panic!("{error}"),
        }
    };
    while lists(&storage, &account).await.is_err() {}
    let administration = kind(storage.find_credential_record("key").await);
    assert_eq!(administration, Some(StorageErrorKind::Unavailable), "reads use the only connection");
    let reads = futures_util::future::join_all((0..20).map(|_| lists(&storage, &account))).await;
    assert_eq!(reads, [Ok(1); 20]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopped_database_returns_500_until_restarted() {
    if Cluster::shared().is_none() {
        return;
    }
    let cluster = Cluster::start().unwrap();
    let options = Schema::options_of(&cluster.address("postgres"));
    let storage = PostgresStorage::open_and_migrate(&options).await.unwrap();
    let account = import_one_course(&storage).await;
    let token = key_of(&storage, &account).await;
    let api = Api::new(storage.clone(), token);
    let status = async || api.get("/api/v1/courses", "").await.status().as_u16();
    assert_eq!(status().await, 200);
    for mode in ["fast", "immediate"] {
        cluster.control(&["-m", mode, "stop"]);
        assert_eq!(status().await, 500);
        assert_eq!(kind(storage.begin_import().await.map(|_| ())), Some(StorageErrorKind::Unavailable));
        assert_eq!(kind(storage.revision(&account).await), Some(StorageErrorKind::Unavailable));
        cluster.control(&["start"]);
        assert_eq!(status().await, 200);
        // The restart happens unnoticed between two reads.
        cluster.control(&["-m", mode, "restart"]);
        assert_eq!(status().await, 200);
    }
}

#[tokio::test]
async fn api_connections_are_read_only() {
    let Some((schema, storage, account)) = Schema::with_course().await else { return };
    // Make every read of `accounts` write.
    let trap = "CREATE FUNCTION trap() RETURNS BIGINT LANGUAGE sql VOLATILE \
                AS 'UPDATE courses SET title = ''Written'' RETURNING created_at'; \
                ALTER TABLE accounts RENAME TO trapped; \
                CREATE VIEW accounts AS SELECT t.id, t.name, t.email, t.revision FROM trapped AS t, trap()";
    schema.host().await.batch_execute(trap).await.unwrap();
    let error = storage.revision(&account).await.unwrap_err();
    assert!(error.to_string().contains("read-only"), "{error}");
    let list = "SELECT title FROM courses";
    let titles = schema.host().await.query(list, &[]).await.unwrap();
    assert!(titles.iter().all(|row| row.get::<_, &str>(0) == "Course"));
}

#[tokio::test]
async fn missing_tables_fail_as_corrupt_instead_of_404() {
    let Some((schema, storage, account)) = Schema::with_course().await else { return };
    let (_, credential) = catalogue_core::admin::NewCredential::api_key(account.clone(), "", Default::default());
    schema.host().await.batch_execute("DROP TABLE modules, module_contents, credentials").await.unwrap();
    assert_eq!(kind(storage.find_course(&account, "course").await), Some(StorageErrorKind::Corrupt));
    assert_eq!(kind(storage.find_credential(&credential.digest).await), Some(StorageErrorKind::Corrupt));
}

#[tokio::test]
async fn failed_import_cannot_be_committed() {
    let Some((schema, storage, account)) = Schema::with_course().await else { return };
    let mut import = storage.begin_import().await.unwrap();
    let mut other = course(&account);
    other.title = "Other".to_owned();
    import.put_course(&other).await.unwrap();
    let host = schema.host().await;
    end_sessions(&host).await;
    other.slug = "other".to_owned();
    assert_eq!(kind(import.put_course(&other).await), Some(StorageErrorKind::Unavailable));
    assert!(import.commit().await.is_err());

    // The database rolls back a transaction whose statement failed, but reports success for its `COMMIT`.
    let mut import = storage.begin_import().await.unwrap();
    host.batch_execute("ALTER TABLE courses RENAME COLUMN tagline TO subtitle").await.unwrap();
    assert_eq!(kind(import.put_course(&other).await), Some(StorageErrorKind::Corrupt));
    assert!(import.commit().await.is_err());
}

//! The database ends connections, goes away, comes back, is slow, or lets nobody in.

use std::num::NonZeroUsize;
use std::thread;
use std::time::Duration;

use catalogue_core::admin::AdminStorage;
use catalogue_core::storage::{CourseStorage, CredentialStorage, PageRequest, StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Catalogue};
use catalogue_postgres::{OpenError, Options, PostgresStorage};
use http::Request;
use tokio::runtime::Builder;
use tokio_postgres::Client;

use crate::schema::Schema;
use crate::{course, import_one_course, items, key_of};
use catalogue_postgres_cluster::Cluster;

/// Shorter than any test is patient, and long enough for a loaded machine.
const DEADLINE: Duration = Duration::from_secs(1);
/// Where nothing is to fail.
const LONG_DEADLINE: Duration = Duration::from_secs(60);

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

/// Ends every other session that the test has now, and waits until they are gone.
async fn end_sessions(host: &Client) {
    let end = "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()";
    let ended: Vec<i32> = host.query(end, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert!(!ended.is_empty());
    let left = "SELECT 1 FROM pg_stat_activity WHERE pid = ANY($1)";
    while !host.query(left, &[&ended]).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_read_over_a_closed_connection_is_asked_again() {
    let Some(schema) = Schema::new().await else { return };
    let storage = schema.storage().await;
    let account = import_one_course(&storage).await;
    for _ in 0..10 {
        let reads = futures_util::future::join_all((0..5).map(|_| lists(&storage, &account))).await;
        assert_eq!(reads, [Ok(1); 5]);
        // Nothing on this thread runs meanwhile, so the next read is the first to meet the end of its connection.
        thread::scope(|scope| {
            let schema = &schema;
            let end = async move || end_sessions(&schema.host().await).await;
            scope.spawn(move || Builder::new_current_thread().enable_all().build().unwrap().block_on(end()));
        });
        assert_eq!(lists(&storage, &account).await, Ok(1));
    }
}

#[tokio::test]
async fn a_read_whose_connection_is_closed_before_the_answer_is_asked_again() {
    let Some(schema) = Schema::new().await else { return };
    let storage = schema.storage().await;
    let account = import_one_course(&storage).await;
    let (host, another) = (schema.host().await, schema.host().await);
    host.batch_execute("SET application_name = 'not of this test'").await.unwrap();
    host.batch_execute("BEGIN; LOCK TABLE courses IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let read = tokio::spawn(async move { lists(&storage, &account).await });
    let waiting = "SELECT 1 FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid \
                   WHERE NOT l.granted AND a.application_name = current_setting('application_name')";
    while another.query(waiting, &[]).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    end_sessions(&another).await;
    host.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(read.await.unwrap(), Ok(1));
}

#[tokio::test]
async fn a_read_that_ends_each_of_its_sessions_is_not_asked_again_and_again() {
    let Some(schema) = Schema::new().await else { return };
    let storage = schema.storage().await;
    let account = import_one_course(&storage).await;
    let trap = "CREATE FUNCTION leave() RETURNS BOOLEAN LANGUAGE plpgsql AS $$ BEGIN \
                PERFORM pg_terminate_backend(pg_backend_pid()); RETURN TRUE; END $$; \
                ALTER TABLE accounts RENAME TO kept; \
                CREATE VIEW accounts AS SELECT k.id, k.name, k.email, k.revision FROM kept AS k WHERE leave()";
    schema.host().await.batch_execute(trap).await.unwrap();
    // And not that it took too long, as where it is asked until its deadline.
    let error = storage.revision(&account).await.unwrap_err();
    assert!(error.to_string().contains("stopping or starting"), "{error}");
}

#[tokio::test]
async fn a_read_that_waits_too_long_fails_and_those_after_it_do_not() {
    let Some(schema) = Schema::new().await else { return };
    let account = import_one_course(&schema.storage().await).await;
    // One connection, so that a read which failed and kept it would be noticed.
    for options in [schema.options(), schema.options().through_transaction_pooler()] {
        let options = options.deadline(DEADLINE).connections(connections(1));
        let storage = PostgresStorage::open(&options).await.unwrap();
        let host = schema.host().await;
        host.batch_execute("BEGIN; LOCK TABLE courses IN ACCESS EXCLUSIVE MODE").await.unwrap();
        let failed = futures_util::future::join(lists(&storage, &account), lists(&storage, &account)).await;
        assert_eq!(failed, (Err(StorageErrorKind::Unavailable), Err(StorageErrorKind::Unavailable)));
        host.batch_execute("ROLLBACK").await.unwrap();
        assert_eq!(lists(&storage, &account).await, Ok(1));
    }
}

#[tokio::test]
async fn reads_wait_for_a_connection() {
    let Some(schema) = Schema::new().await else { return };
    let account = import_one_course(&schema.storage().await).await;
    let storage = PostgresStorage::open(&schema.options().connections(connections(1))).await.unwrap();
    let reads = futures_util::future::join_all((0..50).map(|_| lists(&storage, &account))).await;
    assert_eq!(reads, [Ok(1); 50]);
}

#[tokio::test]
async fn reads_share_the_connections_that_the_database_has_room_for() {
    let Some(schema) = Schema::new().await else { return };
    let account = import_one_course(&schema.storage().await).await;
    let host = schema.host().await;
    let name: String = host.query_one("SELECT CAST(current_schema() AS TEXT)", &[]).await.unwrap().get(0);
    let make = format!(
        "CREATE ROLE single LOGIN CONNECTION LIMIT 1; GRANT USAGE ON SCHEMA {name} TO single; \
         GRANT SELECT ON ALL TABLES IN SCHEMA {name} TO single"
    );
    host.batch_execute(&make).await.unwrap();
    let address = schema.address().replace("user=postgres", "user=single");
    let options = Options::parse(&address).unwrap().deadline(LONG_DEADLINE);
    // A session that has ended may still be counted for a moment, here and below.
    let storage = loop {
        match PostgresStorage::open(&options).await {
            Ok(storage) => break storage,
            Err(OpenError::Failed(error)) if error.kind() == StorageErrorKind::Unavailable => {}
            Err(error) => panic!("{error}"),
        }
    };
    while lists(&storage, &account).await.is_err() {}
    let exporting = kind(storage.find_credential_record("key").await);
    assert_eq!(exporting, Some(StorageErrorKind::Unavailable), "the one connection is that of the reads");
    let reads = futures_util::future::join_all((0..20).map(|_| lists(&storage, &account))).await;
    assert_eq!(reads, [Ok(1); 20]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_goes_away_is_a_500_and_its_return_is_noticed() {
    if Cluster::shared().is_none() {
        return;
    }
    let cluster = Cluster::start().unwrap();
    let options = Schema::options_of(&cluster.address("postgres"));
    let storage = PostgresStorage::open_and_migrate(&options).await.unwrap();
    let account = import_one_course(&storage).await;
    let token = key_of(&storage, &account).await;
    let catalogue = Catalogue::with_api_keys(storage.clone()).build().unwrap();
    let status = async || {
        let request = Request::get("/api/v1/courses").header("authorization", format!("Bearer {token}"));
        catalogue.call(request.body(()).unwrap()).await.status().as_u16()
    };
    assert_eq!(status().await, 200);
    for mode in ["fast", "immediate"] {
        cluster.control(&["-m", mode, "stop"]);
        assert_eq!(status().await, 500);
        assert_eq!(kind(storage.begin_import().await.map(|_| ())), Some(StorageErrorKind::Unavailable));
        assert_eq!(kind(storage.revision(&account).await), Some(StorageErrorKind::Unavailable));
        cluster.control(&["start"]);
        assert_eq!(status().await, 200);
        // Unnoticed between two reads.
        cluster.control(&["-m", mode, "restart"]);
        assert_eq!(status().await, 200);
    }
}

#[tokio::test]
async fn the_engine_refuses_a_write_over_a_connection_of_the_api() {
    let Some(schema) = Schema::new().await else { return };
    let storage = schema.storage().await;
    let account = import_one_course(&storage).await;
    // Reading the accounts now writes.
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
async fn another_schema_is_an_error_and_no_404() {
    let Some(schema) = Schema::new().await else { return };
    let storage = schema.storage().await;
    let account = import_one_course(&storage).await;
    let (_, credential) = catalogue_core::admin::NewCredential::api_key(account.clone(), "", Default::default());
    schema.host().await.batch_execute("DROP TABLE modules, module_contents, credentials").await.unwrap();
    assert_eq!(kind(storage.find_course(&account, "course").await), Some(StorageErrorKind::Corrupt));
    assert_eq!(kind(storage.find_credential(&credential.digest).await), Some(StorageErrorKind::Corrupt));
}

#[tokio::test]
async fn an_import_that_failed_cannot_be_committed() {
    let Some(schema) = Schema::new().await else { return };
    let storage = schema.storage().await;
    let account = import_one_course(&storage).await;
    let mut import = storage.begin_import().await.unwrap();
    let mut other = course(&account);
    other.title = "Other".to_owned();
    import.put_course(&other).await.unwrap();
    let host = schema.host().await;
    end_sessions(&host).await;
    other.slug = "other".to_owned();
    assert_eq!(kind(import.put_course(&other).await), Some(StorageErrorKind::Unavailable));
    assert!(import.commit().await.is_err());

    // The database undoes a transaction whose statement failed, and does not complain of a commit.
    let mut import = storage.begin_import().await.unwrap();
    host.batch_execute("ALTER TABLE courses RENAME COLUMN tagline TO subtitle").await.unwrap();
    assert_eq!(kind(import.put_course(&other).await), Some(StorageErrorKind::Corrupt));
    assert!(import.commit().await.is_err());
}

#[tokio::test]
async fn a_dropped_import_lets_the_next_one_go_on() {
    let Some(schema) = Schema::new().await else { return };
    let storage = schema.storage().await;
    let account = import_one_course(&storage).await;
    for _ in 0..10 {
        let mut import = storage.begin_import().await.unwrap();
        import.put_course(&course(&account)).await.unwrap();
    }
    assert!(storage.remove_course(&account, "course").await.unwrap());
}

//! Outcomes of calls that write, for a connection that is cut at any message.

pub(crate) mod proxy;

use std::sync::Arc;

use catalogue_core::admin::{AdminStorage, NewCredential};
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{Actor, KeyStorage, SignInStorage as _, StorageError, StorageErrorKind};
use catalogue_postgres::{OpenError, Options, PostgresStorage};
use catalogue_postgres_cluster::Cluster;
use catalogue_storage_tests::outcomes::{
    ADMIN_CALLS, Call, SETTINGS_CALLS, State, is_truthful, prepare, report, run_call,
};
use tokio_postgres::Client;

use crate::import_one_course;
use crate::schema::Schema;
use crate::settings::digest;
use crate::stress::{sql, wait_until};
use proxy::{MAX_MESSAGES, Proxy, Sender};

/// A schema, a proxy that can cut connections, and a connection of the host application, whose session is not counted.
struct Fixture {
    schema: Schema,
    proxy: Proxy,
    host: Client,
}

impl Fixture {
    async fn new() -> Option<Self> {
        let schema = Schema::new().await?;
        let proxy = Proxy::before(Cluster::shared().unwrap());
        let host = schema.host().await;
        host.batch_execute("SET application_name = 'not of this test'").await.unwrap();
        Some(Self { schema, proxy, host })
    }

    /// Waits until the test has no session for which `condition` is true.
    async fn wait_for_no_session(&self, condition: &str) {
        let sessions = format!("SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND {condition}");
        let name = self.schema.name();
        wait_until(async || self.host.query(&sessions, &[&name]).await.unwrap().is_empty()).await;
    }

    /// Returns all rows of all tables.
    async fn contents(&self) -> Vec<String> {
        let rows =
            TABLES.map(|table| format!("SELECT '{table}' || CAST(t AS TEXT) FROM {table} AS t")).join(" UNION ALL ");
        let rows = self.host.query(&format!("{rows} ORDER BY 1"), &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    async fn state(&self, is_done: &str, before: &[String]) -> State {
        if self.contents().await == before {
            return State::Nothing;
        }
        let done: Option<bool> = self.host.query_one(is_done, &[]).await.unwrap().get(0);
        if done == Some(true) { State::Done } else { State::Torn }
    }

    /// Loses each message of `call` in turn, and asserts that the call reports truthfully whether it was done.
    ///
    /// `restore` restores and returns the database unless the previous call left it unchanged, and `state` returns its state
    /// after a call. A session for which `is_active` is true may still process what it got over the cut connection.
    async fn assert_truthful(
        &self,
        name: &str,
        is_active: &str,
        restore: impl AsyncFn() -> Vec<String>,
        connect: impl AsyncFn(),
        call: impl AsyncFn() -> Result<(), StorageError>,
        state: impl AsyncFn(&[String]) -> State,
    ) {
        let (mut unknown, mut before, mut found) = (Vec::new(), Vec::new(), State::Torn);
        for sender in [Sender::Client, Sender::Server] {
            for after in 0..MAX_MESSAGES {
                if found != State::Nothing {
                    before = restore().await;
                }
                connect().await;
                self.proxy.cut(sender, after);
                let reported = report(call().await);
                let was_cut = self.proxy.stop();
                self.wait_for_no_session(is_active).await;
                found = state(&before).await;
                let context = format!("{name}, {sender:?} after {after}: {reported}, {found:?}");
                assert!(is_truthful(&reported, &[found]), "{context}");
                if reported.starts_with("not known") {
                    unknown.push((sender, found));
                }
                if !was_cut {
                    assert!(found == State::Done && after > 0, "{context}");
                    break;
                }
            }
        }
        assert_eq!(unknown, UNKNOWN, "{name}");
    }
}

const TABLES: [&str; 8] = [
    "accounts",
    "courses",
    "modules",
    "module_contents",
    "credentials",
    "credential_events",
    "sign_ins",
    "revoked_tokens",
];

/// Senders of lost messages for which the outcome is unknown, each with the state of the database: either the commit was
/// lost, or its response, or the message that ends the response.
const UNKNOWN: [(Sender, State); 3] =
    [(Sender::Client, State::Nothing), (Sender::Server, State::Done), (Sender::Server, State::Done)];

async fn assert_calls_truthful(calls: &[Call]) {
    let Some(fixture) = Fixture::new().await else { return };
    let key = prepare(&fixture.schema.storage().await).await;
    let save = TABLES.map(|table| format!("CREATE TABLE saved_{table} AS TABLE {table};")).concat();
    fixture.host.batch_execute(&save).await.unwrap();
    let insert = TABLES.map(|table| format!("INSERT INTO {table} TABLE saved_{table};")).concat();
    let replace = format!("DELETE FROM accounts; DELETE FROM revoked_tokens; {insert}");
    let cut = PostgresStorage::open(&fixture.schema.options_through(fixture.proxy.port)).await.unwrap();
    let restore = async || {
        fixture.host.batch_execute(&replace).await.unwrap();
        fixture.contents().await
    };
    // Opens the reading connection first, so that the call always exchanges the same messages.
    let connect = async || assert_eq!(cut.find_session(&digest(0)).await.unwrap(), None);
    for &(name, is_done) in calls {
        let call = async || run_call(name, &cut, &key).await;
        let state = async |before: &[String]| fixture.state(is_done, before).await;
        fixture.assert_truthful(name, "state IS DISTINCT FROM 'idle'", &restore, &connect, call, state).await;
    }
}

#[tokio::test]
async fn admin_calls_report_whether_change_was_committed() {
    assert_calls_truthful(&ADMIN_CALLS).await;
}

#[tokio::test]
async fn settings_calls_report_whether_change_was_committed() {
    assert_calls_truthful(&SETTINGS_CALLS).await;
}

#[tokio::test]
async fn migration_reports_whether_it_was_committed() {
    let Some(fixture) = Fixture::new().await else { return };
    let name = fixture.schema.name();
    let restore = async || {
        fixture.host.batch_execute(&format!("DROP SCHEMA {name} CASCADE; CREATE SCHEMA {name}")).await.unwrap();
        Vec::new()
    };
    let migrate = async || match PostgresStorage::migrate(&fixture.schema.options_through(fixture.proxy.port)).await {
        Ok(_) => Ok(()),
        Err(OpenError::Failed(cause)) => Err(cause),
        Err(other) => panic!("{other:?}"),
    };
    let state = async |_: &[String]| {
        let tables = fixture.host.query("SELECT 1 FROM pg_tables WHERE schemaname = $1", &[&name]).await.unwrap();
        if tables.is_empty() { State::Nothing } else { State::Done }
    };
    fixture.assert_truthful("migration", "TRUE", restore, async || (), migrate, state).await;
}

/// The commit waits for a standby that never connects; the primary has already written it.
#[tokio::test]
async fn commit_waiting_for_standby_has_unknown_outcome() {
    if Cluster::shared().is_none() {
        return;
    }
    let cluster = Cluster::start().unwrap();
    let options = Options::parse(&cluster.address("postgres")).unwrap();
    let storage = Arc::new(PostgresStorage::open_and_migrate(&options).await.unwrap());
    let account = import_one_course(&*storage).await;
    cluster.configure(&["synchronous_commit = on", "synchronous_standby_names = 'absent'"]);
    cluster.control(&["reload"]);
    wait_until(async || sql(&cluster, "SHOW synchronous_standby_names").await == "absent").await;
    let waiting = "SELECT CAST(count(*) AS TEXT) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    let end =
        "SELECT CAST(count(pg_terminate_backend(pid)) AS TEXT) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    for is_ended in [true, false] {
        let (_, key) = NewCredential::api_key(account.clone(), "a key", Scopes::default());
        let (id, creating) = (key.record.identity.credential_id.clone(), Arc::clone(&storage));
        let created = tokio::spawn(async move { creating.create_key(&key, &Actor::OPERATOR).await });
        wait_until(async || sql(&cluster, waiting).await == "1").await;
        if is_ended {
            assert_eq!(sql(&cluster, end).await, "1");
        } else {
            // The runtime is idle, so the paused clock advances to the deadline immediately.
            tokio::time::pause();
        }
        let error = created.await.unwrap().unwrap_err();
        if !is_ended {
            tokio::time::resume();
        }
        assert_eq!(error.kind(), StorageErrorKind::OutcomeUnknown, "{error:?}");
        sql(&cluster, end).await;
        wait_until(async || storage.find_credential_record(&id).await.unwrap().is_some()).await;
    }
}

//! Outcomes of calls that write, for a connection that is cut at any message.

mod calls;
pub(crate) mod proxy;

use std::sync::Arc;

use catalogue_core::admin::{AdminStorage, NewCredential};
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{Actor, KeyStorage, SignInStorage as _, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};
use catalogue_postgres::{OpenError, Options, PostgresStorage};
use catalogue_postgres_cluster::Cluster;
use tokio_postgres::Client;

use crate::import_one_course;
use crate::schema::Schema;
use crate::settings::digest;
use crate::stress::{sql, wait_until};
use calls::{CALLS, SETTINGS, Subject, all_and_any, run_call};
use proxy::{MAX_MESSAGES, Proxy, Sender};

/// A schema, a storage behind a proxy that can cut connections, and a direct one.
struct Fixture {
    schema: Schema,
    proxy: Proxy,
    direct: PostgresStorage,
    cut: PostgresStorage,
    host: Client,
    account: AccountId,
}

impl Fixture {
    async fn new() -> Option<Self> {
        let schema = Schema::new().await?;
        let direct = schema.storage().await;
        let cluster = Cluster::shared().unwrap();
        let proxy = Proxy::before(cluster);
        let cut = PostgresStorage::open(&Schema::options_of(&address(&proxy, &schema))).await.unwrap();
        let host = schema.host().await;
        host.batch_execute("SET application_name = 'not of this test'").await.unwrap();
        let account = import_one_course(&direct).await;
        Some(Self { schema, proxy, direct, cut, host, account })
    }

    /// Prepares the database for `call`.
    async fn subject(&self, call: &str, number: usize) -> Subject {
        let account = self.account.clone();
        let (_, key) = NewCredential::api_key(account.clone(), "a key", Scopes::default());
        let subject = Subject { account, key, number };
        match call {
            "create key" | "import" => {}
            "revoke tokens" => {
                self.host.batch_execute("DELETE FROM revoked_tokens").await.unwrap();
                self.direct.revoke_tokens(&[digest(9)], Timestamp::MIN, Timestamp::MIN).await.unwrap();
            }
            "remove course" | "remove account" => drop(import_one_course(&self.direct).await),
            "create link" | "exchange link" | "end session" | "end sign-ins" => {
                self.sign_ins_before(call, &subject).await;
            }
            _ => self.direct.create_key(&subject.key, &Actor::OPERATOR).await.unwrap(),
        }
        subject
    }

    async fn sign_ins_before(&self, call: &str, subject: &Subject) {
        self.host.batch_execute("DELETE FROM sign_ins; DELETE FROM credential_events").await.unwrap();
        if call != "create link" {
            run_call("create link", &self.direct, subject).await.unwrap();
        }
        if call == "end session" {
            run_call("exchange link", &self.direct, subject).await.unwrap();
        }
    }

    /// Waits until the database has processed everything that it got over the cut connection.
    async fn settle(&self) {
        let busy = "SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND state IS DISTINCT FROM 'idle'";
        let name = self.schema.name();
        while !self.host.query(busy, &[&name]).await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    }

    /// Returns whether all parts of the call were done, and whether any was.
    async fn done_parts(&self, sql: &str, subject: &Subject) -> (bool, bool) {
        let id = &*subject.key.record.identity.credential_id;
        let new = format!("new-{}", subject.number);
        let row = self.host.query_one(sql, &[&id, &new]).await.unwrap();
        (row.get(0), row.get(1))
    }
}

/// Returns the connection string of the schema through the proxy.
fn address(proxy: &Proxy, schema: &Schema) -> String {
    let directory = format!("host={} ", Cluster::shared().unwrap().directory.display());
    schema.address().replace(&directory, &format!("host=127.0.0.1 port={} ", proxy.port))
}

fn outcome_text<T>(outcome: &Result<T, StorageErrorKind>) -> &'static str {
    match outcome {
        Ok(_) => "done",
        Err(StorageErrorKind::OutcomeUnknown) => "not known",
        Err(_) => "not done",
    }
}

#[tokio::test]
async fn calls_report_whether_change_was_committed() {
    let Some(fixture) = Fixture::new().await else { return };
    let mut numbers = 0..;
    let settings = SETTINGS.iter().map(|(call, parts)| (*call, all_and_any(parts)));
    // `CALLS` come last, since one of them removes the account.
    for (call, sql) in settings.chain(CALLS.into_iter().map(|(call, sql)| (call, sql.to_owned()))) {
        let mut unknown = Vec::new();
        for sender in [Sender::Client, Sender::Server] {
            for after in 0..MAX_MESSAGES {
                let subject = fixture.subject(call, numbers.next().unwrap()).await;
                // Open the reading connection first, so that the call always exchanges the same messages.
                fixture.cut.find_session(&digest(0)).await.unwrap();
                fixture.proxy.cut(sender, after);
                let outcome = run_call(call, &fixture.cut, &subject).await;
                let was_cut = fixture.proxy.stop();
                fixture.settle().await;
                let (done, any) = fixture.done_parts(&sql, &subject).await;
                let context = format!("{call}, {sender:?} after {after}: {outcome:?}, done {done}, any {any}");
                match outcome_text(&outcome.map_err(|error| error.kind())) {
                    "done" => assert!(done, "{context}"),
                    "not known" => {
                        assert_eq!(done, any, "{context}");
                        unknown.push((sender, done));
                    }
                    _ => assert!(!any, "{context}"),
                }
                if !was_cut {
                    assert!(done && after > 0, "{context}");
                    break;
                }
            }
        }
        // Either the commit was lost, or its response, or the message that ends the response.
        let expected = [(Sender::Client, false), (Sender::Server, true), (Sender::Server, true)];
        assert_eq!(unknown, expected, "{call}");
    }
}

#[tokio::test]
async fn migration_reports_whether_it_was_committed() {
    let Some(schema) = Schema::new().await else { return };
    let proxy = Proxy::before(Cluster::shared().unwrap());
    let (options, host) = (Schema::options_of(&address(&proxy, &schema)), schema.host().await);
    host.batch_execute("SET application_name = 'not of this test'").await.unwrap();
    let name = schema.name();
    let mut unknown = Vec::new();
    for sender in [Sender::Client, Sender::Server] {
        for after in 0..MAX_MESSAGES {
            host.batch_execute(&format!("DROP SCHEMA {name} CASCADE; CREATE SCHEMA {name}")).await.unwrap();
            proxy.cut(sender, after);
            let outcome = PostgresStorage::migrate(&options).await;
            let was_cut = proxy.stop();
            let sessions = "SELECT 1 FROM pg_stat_activity WHERE application_name = $1";
            while !host.query(sessions, &[&name]).await.unwrap().is_empty() {
                tokio::task::yield_now().await;
            }
            let tables = "SELECT 1 FROM pg_tables WHERE schemaname = $1";
            let done = !host.query(tables, &[&name]).await.unwrap().is_empty();
            let context = format!("{sender:?} after {after}: {outcome:?}, done {done}");
            let outcome = outcome.map_err(|error| match error {
                OpenError::Failed(cause) => cause.kind(),
                other => panic!("{other:?}"),
            });
            match outcome_text(&outcome) {
                "done" => assert!(done, "{context}"),
                "not known" => unknown.push((sender, done)),
                _ => assert!(!done, "{context}"),
            }
            if !was_cut {
                assert!(done && after > 0, "{context}");
                break;
            }
        }
    }
    assert_eq!(unknown, [(Sender::Client, false), (Sender::Server, true), (Sender::Server, true)]);
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

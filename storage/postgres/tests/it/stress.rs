//! A primary with a standby, under a load of reads and a few writes during a failover.

use std::error::Error as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use catalogue_core::admin::{Account, AdminStorage, NewCredential};
use catalogue_core::auth::{Scopes, TokenDigest};
use catalogue_core::storage::{Actor, CourseStorage, CredentialStorage, KeyStorage, StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Course};
use catalogue_postgres::{Options, PostgresStorage};
use catalogue_postgres_cluster::Cluster;
use catalogue_storage_conformance::sample;
use tokio::task::{JoinHandle, block_in_place};
use tokio::time::sleep;

use crate::schema::connect;

/// Timeout for any step, even on a loaded machine.
const TASK_TIMEOUT: Duration = Duration::from_secs(120);
/// Delay between the calls of a client, and between polls of a condition: the tests share their processors.
const PAUSE: Duration = Duration::from_millis(5);

/// A primary, a standby that streams from it, a storage over both, and a key with a course.
pub(crate) struct Pair {
    pub(crate) first: Cluster,
    pub(crate) second: Cluster,
    pub(crate) storage: PostgresStorage,
    digest: TokenDigest,
}

/// Tasks that read and write until they are stopped.
pub(crate) struct Load {
    tasks: Vec<JoinHandle<()>>,
    tally: Arc<Tally>,
}

#[derive(Default)]
struct Tally {
    is_stopped: AtomicBool,
    /// Numbers of successful reads and writes.
    reads: AtomicU64,
    writes: AtomicU64,
    /// Results that must never occur.
    violations: Mutex<Vec<String>>,
}

pub(crate) fn account() -> AccountId {
    AccountId::new("stressed")
}

fn course(title: &str) -> Course {
    Course { title: title.to_owned(), ..sample::course(account().as_str(), "course") }
}

/// Imports the only course, titled `title`.
pub(crate) async fn write(storage: &PostgresStorage, title: &str) -> Result<(), StorageError> {
    let mut import = storage.begin_import().await?;
    import.put_account(&Account { id: account(), name: String::new(), email: String::new() }).await?;
    import.put_course(&course(title)).await?;
    import.commit().await
}

/// Returns the title of the only course.
pub(crate) async fn title(storage: &PostgresStorage) -> Result<Option<String>, StorageError> {
    Ok(storage.find_course(&account(), "course").await?.value.map(|course| course.title))
}

impl Pair {
    /// Starts both servers; `None` if PostgreSQL is missing and not required.
    pub(crate) async fn start() -> Option<Self> {
        Cluster::shared()?;
        let first = Cluster::start().unwrap();
        let second = first.standby().unwrap();
        let options = Options::parse(&first.address_with(&[&second], "postgres")).unwrap();
        let storage = PostgresStorage::open_and_migrate(&options).await.unwrap();
        write(&storage, "before").await.unwrap();
        let (_, credential) = NewCredential::api_key(account(), "key", Scopes::from_names(["read:courses"]));
        storage.create_key(&credential, &Actor::OPERATOR).await.unwrap();
        let pair = Self { first, second, storage, digest: credential.digest };
        caught_up(&pair.first, &pair.second).await;
        Some(pair)
    }

    /// Starts to read and to write.
    pub(crate) async fn load(&self) -> Load {
        let tally = Arc::new(Tally::default());
        let mut tasks = Vec::new();
        for _ in 0..4 {
            let (storage, tally, digest) = (self.storage.clone(), Arc::clone(&tally), self.digest);
            tasks.push(tokio::spawn(async move {
                while !tally.is_stopped.load(Ordering::Relaxed) {
                    let found = async { storage.find_credential(&digest).await.map(|found| found.is_some()) };
                    tally.read("credential", found).await;
                    tally.read("course", async { title(&storage).await.map(|found| found.is_some()) }).await;
                }
            }));
        }
        let (storage, writing) = (self.storage.clone(), Arc::clone(&tally));
        tasks.push(tokio::spawn(async move {
            while !writing.is_stopped.load(Ordering::Relaxed) {
                let written = write(&storage, &format!("{:?}", Instant::now())).await;
                writing.record(&writing.writes, "write", written);
                sleep(PAUSE).await;
            }
        }));
        let load = Load { tasks, tally };
        load.wait_for_success().await;
        load
    }
}

impl Load {
    /// Waits for reads and writes that began after this call.
    pub(crate) async fn wait_for_success(&self) {
        for count in [&self.tally.reads, &self.tally.writes] {
            // Wait for more calls than were already in progress.
            let enough = count.load(Ordering::Relaxed) + 10;
            wait_until(async || count.load(Ordering::Relaxed) > enough).await;
        }
    }

    /// Stops the load. Returns its violations.
    pub(crate) async fn end(self) -> Vec<String> {
        self.tally.is_stopped.store(true, Ordering::Relaxed);
        for task in self.tasks {
            tokio::time::timeout(TASK_TIMEOUT, task).await.expect("the task must not hang").unwrap();
        }
        std::mem::take(&mut self.tally.violations.lock().unwrap())
    }
}

impl Tally {
    async fn read(&self, what: &str, found: impl Future<Output = Result<bool, StorageError>>) {
        let found = found.await;
        if matches!(found, Ok(false)) {
            self.violations.lock().unwrap().push(format!("no {what}"));
        }
        sleep(PAUSE).await;
        self.record(&self.reads, what, found.map(|_| ()));
    }

    fn record(&self, count: &AtomicU64, what: &str, outcome: Result<(), StorageError>) {
        let Err(error) = outcome else {
            count.fetch_add(1, Ordering::Relaxed);
            return;
        };
        // The response to a commit may be lost.
        let is_expected = what == "write" && error.kind() == StorageErrorKind::OutcomeUnknown;
        if ![StorageErrorKind::Busy, StorageErrorKind::Unavailable].contains(&error.kind()) && !is_expected {
            let source = error.source().map(ToString::to_string);
            self.violations.lock().unwrap().push(format!("{what}: {error} ({source:?})"));
        }
    }
}

/// Runs `pg_ctl` without blocking the load.
pub(crate) fn control(cluster: &Cluster, action: &[&str]) {
    block_in_place(|| cluster.control(action));
}

/// Waits until the standby has all that the primary has.
pub(crate) async fn caught_up(primary: &Cluster, standby: &Cluster) {
    let target = sql(primary, "SELECT CAST(pg_current_wal_insert_lsn() AS TEXT)").await;
    wait_until(async || {
        sql(standby, &format!("SELECT CAST(pg_last_wal_replay_lsn() >= '{target}' AS TEXT)")).await == "true"
    })
    .await;
}

/// Returns the text that one server returns for a statement.
pub(crate) async fn sql(cluster: &Cluster, sql: &str) -> String {
    let client = connect(&cluster.address("postgres")).await;
    client.query_one(sql, &[]).await.unwrap().get(0)
}

/// Polls `is_true` until it returns `true`.
pub(crate) async fn wait_until(mut is_true: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !is_true().await {
            sleep(PAUSE).await;
        }
    };
    tokio::time::timeout(TASK_TIMEOUT, waiting).await.expect("the condition becomes true");
}

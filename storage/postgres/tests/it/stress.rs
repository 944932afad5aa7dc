//! A primary with a standby, under a load of reads and a few writes during a failover.

use std::error::Error as _;
use std::fmt;
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
use tokio::task::{JoinHandle, block_in_place, yield_now};
use tokio_postgres::NoTls;

/// Timeout for any step, even on a loaded machine.
const TASK_TIMEOUT: Duration = Duration::from_secs(120);

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
    reads: Count,
    writes: Count,
    /// Results that must never occur.
    violations: Mutex<Vec<String>>,
}

#[derive(Default)]
struct Count {
    done: AtomicU64,
    failed: AtomicU64,
    /// The last failure, and the longest call.
    last: Mutex<Last>,
}

#[derive(Clone, Copy, Default)]
struct Last {
    failure: Option<Instant>,
    longest: Duration,
}

/// Counts, durations and violations of a load.
pub(crate) struct Report {
    pub(crate) reads_done: u64,
    pub(crate) reads_failed: u64,
    pub(crate) writes_done: u64,
    pub(crate) writes_failed: u64,
    /// Time from the induced failure to the last failed call.
    pub(crate) reads_recovered: Duration,
    pub(crate) writes_recovered: Duration,
    pub(crate) longest_read: Duration,
    pub(crate) violations: Vec<String>,
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
    pub(crate) async fn start(with: impl FnOnce(Options) -> Options) -> Option<Self> {
        Cluster::shared()?;
        let first = Cluster::start().unwrap();
        let second = first.standby().unwrap();
        let options = with(Options::parse(&first.address_with(&[&second], "postgres")).unwrap());
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
                let began = Instant::now();
                let written = write(&storage, &format!("{began:?}")).await;
                writing.record(&writing.writes, "write", began, written);
                yield_now().await;
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
            let enough = count.done.load(Ordering::Relaxed) + 10;
            wait_until(async || count.done.load(Ordering::Relaxed) > enough).await;
        }
    }

    /// Stops the load. Returns its counts, and the recovery times since `failure`.
    pub(crate) async fn end(self, failure: Instant) -> Report {
        self.tally.is_stopped.store(true, Ordering::Relaxed);
        for task in self.tasks {
            tokio::time::timeout(TASK_TIMEOUT, task).await.expect("the task must not hang").unwrap();
        }
        let Tally { reads, writes, violations, .. } = &*self.tally;
        let last = |count: &Count| *count.last.lock().unwrap();
        let recovered = |count| last(count).failure.map_or(Duration::ZERO, |at| at.saturating_duration_since(failure));
        Report {
            reads_done: reads.done.load(Ordering::Relaxed),
            reads_failed: reads.failed.load(Ordering::Relaxed),
            writes_done: writes.done.load(Ordering::Relaxed),
            writes_failed: writes.failed.load(Ordering::Relaxed),
            reads_recovered: recovered(reads),
            writes_recovered: recovered(writes),
            longest_read: last(reads).longest,
            violations: violations.lock().unwrap().clone(),
        }
    }
}

impl Tally {
    async fn read(&self, what: &str, found: impl Future<Output = Result<bool, StorageError>>) {
        let began = Instant::now();
        let found = found.await;
        if matches!(found, Ok(false)) {
            self.violations.lock().unwrap().push(format!("no {what}"));
        }
        if found.is_err() {
            // Clients of a real server would not retry immediately.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        self.record(&self.reads, what, began, found.map(|_| ()));
    }

    fn record(&self, count: &Count, what: &str, began: Instant, outcome: Result<(), StorageError>) {
        let mut last = count.last.lock().unwrap();
        last.longest = last.longest.max(began.elapsed());
        let Err(error) = outcome else {
            count.done.fetch_add(1, Ordering::Relaxed);
            return;
        };
        count.failed.fetch_add(1, Ordering::Relaxed);
        last.failure = Some(Instant::now());
        // The response to a commit may be lost.
        let is_expected = what == "write" && error.kind() == StorageErrorKind::OutcomeUnknown;
        if ![StorageErrorKind::Busy, StorageErrorKind::Unavailable].contains(&error.kind()) && !is_expected {
            let source = error.source().map(ToString::to_string);
            self.violations.lock().unwrap().push(format!("{what}: {error} ({source:?})"));
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reads_done, reads_failed, writes_done, writes_failed, .. } = self;
        let [reads, writes, longest] =
            [self.reads_recovered, self.writes_recovered, self.longest_read].map(|time| time.as_secs_f64());
        writeln!(
            f,
            "reads:  {reads_done} done, {reads_failed} failed, the last after {reads:.2} s; longest {longest:.2} s"
        )?;
        write!(f, "writes: {writes_done} done, {writes_failed} failed, the last after {writes:.2} s")
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
    let (client, connection) = tokio_postgres::connect(&cluster.address("postgres"), NoTls).await.unwrap();
    tokio::spawn(connection);
    client.query_one(sql, &[]).await.unwrap().get(0)
}

/// Polls `is_true` until it returns `true`.
pub(crate) async fn wait_until(mut is_true: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !is_true().await {
            yield_now().await;
        }
    };
    tokio::time::timeout(TASK_TIMEOUT, waiting).await.expect("the condition becomes true");
}

//! [`Database`]: a private PostgreSQL on the disk, and what the kernel says that its sessions have done.

use std::env;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use catalogue_benches::cpu_of_process;
use catalogue_postgres::{Options, PostgresStorage};
use catalogue_postgres_cluster::Cluster;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Row};

/// Room for the largest tables and nothing that works by itself while others are measured.
const SETTINGS: [&str; 7] = [
    "shared_buffers = '1GB'",
    "maintenance_work_mem = '256MB'",
    "max_wal_size = '512MB'",
    "wal_level = minimal",
    "max_wal_senders = 0",
    "full_page_writes = off",
    "autovacuum = off",
];
/// What the storage calls its sessions by itself.
const SESSIONS: &str = "SELECT pid FROM pg_stat_activity WHERE application_name = 'catalogue' ORDER BY pid";

/// A PostgreSQL in a directory of its own, removed with this value.
pub(crate) struct Database {
    client: Client,
    runtime: Runtime,
    cluster: Cluster,
}

impl Database {
    /// Starts it where that many bytes are free.
    pub(crate) fn start(bytes: u64) -> Result<Self, Box<dyn Error>> {
        let folder = env::temp_dir();
        let free = free_on(&folder)?;
        if free < bytes {
            return Err(
                format!("{} has {} MiB free and {} are needed", folder.display(), free >> 20, bytes >> 20).into()
            );
        }
        let cluster = Cluster::start_in(&folder)?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let address = cluster.address("postgres");
        let client = connect(&runtime, &address)?;
        for setting in SETTINGS {
            runtime.block_on(client.batch_execute(&format!("ALTER SYSTEM SET {setting}")))?;
        }
        drop(client);
        cluster.control(&["restart"]);
        Ok(Self { client: connect(&runtime, &address)?, runtime, cluster })
    }

    /// Its address as PostgreSQL's own programs take it.
    pub(crate) fn address(&self) -> String {
        self.cluster.address("postgres")
    }

    /// Its address for the program's `--database`.
    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@/postgres?host={}", self.cluster.directory.display())
    }

    /// What it writes about itself.
    pub(crate) fn log(&self) -> PathBuf {
        self.cluster.directory.join("log")
    }

    /// The storage over it, with its tables, by an address that may say more.
    pub(crate) fn storage(&self, more: &str) -> Result<PostgresStorage, Box<dyn Error>> {
        let options = Options::parse(&format!("{}{more}", self.address()))?;
        Ok(self.wait(PostgresStorage::open_and_migrate(&options))?)
    }

    /// Runs a future to its end; sessions that were opened in it live on.
    pub(crate) fn wait<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    /// Runs statements.
    pub(crate) fn run(&self, sql: &str) -> Result<(), tokio_postgres::Error> {
        self.wait(self.client.batch_execute(sql))
    }

    /// The rows of a statement.
    pub(crate) fn query(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, tokio_postgres::Error> {
        self.wait(self.client.query(sql, values))
    }

    /// How much of the processor's time those sessions have used so far that the catalogue has opened.
    pub(crate) fn sessions(&self) -> Result<Sessions, Box<dyn Error>> {
        let (mut processes, mut used) = (Vec::new(), Duration::ZERO);
        for row in self.query(SESSIONS, &[])? {
            let process = u32::try_from(row.get::<_, i32>(0))?;
            used += cpu_of_process(process)?;
            processes.push(process);
        }
        Ok(Sessions { processes, used })
    }
}

/// The database's sessions, a process each.
pub(crate) struct Sessions {
    processes: Vec<u32>,
    used: Duration,
}

impl Sessions {
    /// What they have used since; an error where one has come or gone meanwhile.
    pub(crate) fn used_since(&self, before: &Self) -> Result<Duration, String> {
        match self.processes == before.processes {
            true => Ok(self.used.saturating_sub(before.used)),
            false => Err(format!("sessions came or went: {:?}, then {:?}", before.processes, self.processes)),
        }
    }
}

/// How many bytes of the disk are free for whoever asks.
#[cfg(target_os = "linux")]
fn free_on(folder: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(folder)?;
    Ok(disk.f_bavail * disk.f_frsize)
}

/// Nothing else works elsewhere either: there is no `/proc`.
#[cfg(not(target_os = "linux"))]
fn free_on(_folder: &Path) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}

fn connect(runtime: &Runtime, address: &str) -> Result<Client, tokio_postgres::Error> {
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(address, NoTls).await?;
        // Its end is told by the client's next call.
        tokio::spawn(connection);
        Ok(client)
    })
}

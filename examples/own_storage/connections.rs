//! [`Connections`]: blocking reads over a few connections, outside the threads that process requests.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use catalogue_core::storage::{StorageError, StorageErrorKind};
use rusqlite::{Connection, OpenFlags, Transaction};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// Maximum number of concurrent reads, and so of connections.
const MAX_READS: usize = 4;
/// Timeout of a read that waits for a writer, if the database is not in WAL mode.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

/// Read-only connections to one file. Cheap to clone; clones share the connections.
#[derive(Clone, Debug)]
pub(crate) struct Connections {
    path: Arc<Path>,
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
}

impl Connections {
    /// Opens the file at `path`, which must exist.
    pub(crate) fn open(path: &Path) -> rusqlite::Result<Self> {
        let first = open(path)?;
        Ok(Self {
            path: path.into(),
            idle: Arc::new(Mutex::new(vec![first])),
            permits: Arc::new(Semaphore::new(MAX_READS)),
        })
    }

    /// Runs `read` on a thread for blocking work, in a transaction, so that all its queries read the same snapshot.
    ///
    /// Without the semaphore, a burst of requests would occupy all threads for blocking work, each with its own connection.
    /// A read whose caller was dropped runs to its end before it releases its permit.
    pub(crate) async fn read<T, R>(&self, read: R) -> Result<T, StorageError>
    where
        T: Send + 'static,
        R: FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    {
        let permit = Arc::clone(&self.permits).acquire_owned().await.expect("the semaphore is never closed");
        let (path, idle) = (Arc::clone(&self.path), Arc::clone(&self.idle));
        let work = spawn_blocking(move || {
            let _permit = permit;
            let lock = || idle.lock().unwrap_or_else(PoisonError::into_inner);
            let idle_connection = lock().pop();
            let mut connection = idle_connection.map_or_else(|| open(&path), Ok)?;
            let found = read(&connection.transaction()?)?;
            // After an error, this line is not reached, and the connection is closed.
            lock().push(connection);
            Ok(found)
        });
        let result: rusqlite::Result<T> =
            work.await.map_err(|error| failed("a read of the school panicked or was aborted", error))?;
        result.map_err(|error| failed("cannot read the school", error))
    }
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(connection)
}

/// Returns an error whose cause goes to the log; the client gets a neutral 500.
fn failed(message: &str, cause: impl std::error::Error + Send + Sync + 'static) -> StorageError {
    StorageError::new(StorageErrorKind::Unavailable, message).with_source(cause)
}

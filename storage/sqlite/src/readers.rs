//! [`Readers`]: read-only connections, one for each call that runs at the same time.

use std::sync::{Mutex, MutexGuard, PoisonError};

use catalogue_core::StorageError;
use rusqlite::Connection;

use crate::connection::Database;
use crate::error::storage_error;

/// Connections at rest. A read takes one, works on its own thread without waiting, and puts it back; so there are never
/// more than threads that read.
pub(crate) struct Readers {
    database: Database,
    idle: Mutex<Vec<Connection>>,
    /// Keeps a database in memory alive.
    _anchor: Option<Mutex<Connection>>,
}

impl Readers {
    pub(crate) fn new(database: Database, anchor: Option<Connection>) -> Self {
        Self { database, idle: Mutex::new(Vec::new()), _anchor: anchor.map(Mutex::new) }
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// Runs `read` on a connection. One that met an error is closed instead of kept.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StorageError> {
        let idle = self.idle().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.database.open_reader()?,
        };
        let value = read(&connection).map_err(storage_error)?;
        self.idle().push(connection);
        Ok(value)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        // Taking and putting back cannot leave the list in between.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

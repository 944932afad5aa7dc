//! Tests that run on SQLite and on PostgreSQL.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

#[cfg(unix)]
use crate::postgres::fixture::Session;
use crate::program::TestDir;

/// Runs each function as a test on SQLite and on PostgreSQL, with a working directory whose commands use an empty database.
macro_rules! on_each_database {
    ($($(#[$attribute:meta])* $name:ident),+ $(,)?) => {
        mod on_sqlite {
            $(
                #[test]
                $(#[$attribute])*
                fn $name() {
                    super::$name(&$crate::program::TestDir::in_memory());
                }
            )+
        }

        #[cfg(unix)]
        mod on_postgres {
            $(
                #[test]
                $(#[$attribute])*
                fn $name() {
                    let Some(dir) = $crate::program::TestDir::postgres() else { return };
                    super::$name(&dir);
                }
            )+
        }
    };
}

pub(crate) use on_each_database;

/// A connection of a host application, which runs plain SQL.
pub(crate) enum Host {
    Sqlite(Connection),
    #[cfg(unix)]
    Postgres(Session),
}

impl Host {
    /// Opens an SQLite database.
    pub(crate) fn sqlite(path: &Path) -> Self {
        let connection = Connection::open(path).unwrap();
        connection.busy_timeout(Duration::from_secs(60)).unwrap();
        Self::Sqlite(connection)
    }

    /// Runs statements.
    pub(crate) fn run(&self, sql: &str) {
        match self {
            Self::Sqlite(connection) => connection.execute_batch(sql).unwrap(),
            #[cfg(unix)]
            Self::Postgres(session) => session.run(sql),
        }
    }

    /// Runs a statement and returns the first column, which contains texts.
    pub(crate) fn texts(&self, sql: &str) -> Vec<String> {
        match self {
            Self::Sqlite(connection) => {
                let mut statement = connection.prepare(sql).unwrap();
                statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
            }
            #[cfg(unix)]
            Self::Postgres(session) => session.texts(sql),
        }
    }
}

impl TestDir {
    /// Returns the database as the program prints it.
    pub(crate) fn database_name(&self) -> String {
        match &*self.address {
            "" => "sqlite:catalogue.db".to_owned(),
            address => address.replace("postgres@", ""),
        }
    }

    /// Returns the path of an SQLite database.
    pub(crate) fn database(&self) -> PathBuf {
        self.path(self.database_name().strip_prefix("sqlite:").unwrap())
    }

    /// Opens a connection to the database.
    pub(crate) fn host(&self) -> Host {
        #[cfg(unix)]
        if self.is_postgres() {
            return Host::Postgres(Session::of(&self.address));
        }
        Host::sqlite(&self.database())
    }
}

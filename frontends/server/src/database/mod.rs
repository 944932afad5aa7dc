//! [`Database`]: the address that `--database` takes, and opening what is there.

mod file;
mod old_rows;
mod postgres;
mod storage;
#[cfg(unix)]
mod volume;

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use catalogue_core::admin::{Accounts, AdminStorage};
use catalogue_core::storage::{StorageError, StorageErrorKind};
use catalogue_postgres::Options;
use catalogue_sqlite::{OpenError, SqliteStorage};
use serde::Serialize;

use crate::exit::Failure;
use crate::report::Report;
use crate::text::printable;
use postgres::Postgres;
pub(crate) use storage::Storage;

const IN_MEMORY: &str = "sqlite::memory:";

/// A database that commands can open.
#[derive(Clone, Debug)]
pub(crate) enum Database {
    /// An SQLite file.
    File(PathBuf),
    /// An SQLite database in this process's memory.
    Memory,
    /// A PostgreSQL database.
    Postgres(Box<Postgres>),
}

/// Why a database could not be opened.
#[derive(Debug)]
pub(crate) struct Unopened {
    /// What to say of it.
    pub(crate) failure: Failure,
    /// Whether it can pass while nothing but the database changes.
    pub(crate) can_pass: bool,
}

impl From<Unopened> for Failure {
    fn from(unopened: Unopened) -> Self {
        unopened.failure
    }
}

impl From<OpenError> for Unopened {
    fn from(error: OpenError) -> Self {
        Self { failure: Failure::because(&error), can_pass: false }
    }
}

/// What a migration did.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Migrated {
    /// The schema's version before; 0 for a new database.
    pub(crate) from: u32,
    /// The schema's version now.
    pub(crate) to: u32,
}

/// Whether a command may make a missing database and bring an older one up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Migration {
    /// It may.
    Allowed,
    /// `--no-migrate` forbids it.
    Forbidden,
}

impl Database {
    /// Reads an address. No message repeats more of it than what stands before a colon: it may hold a password.
    pub(crate) fn parse(address: &str) -> Result<Self, String> {
        const RIGHT: &str = "write sqlite:PATH, like sqlite:catalogue.db";
        const OR_POSTGRES: &str = "or postgres://USER@HOST/NAME";
        match address.split_once(':') {
            Some(("sqlite", "")) => Err(format!("the address of the database has no path; {RIGHT}")),
            Some(("sqlite", path)) if path.contains('\0') => {
                Err(format!("the path of the database has a zero byte; {RIGHT}"))
            }
            // An address like those of other kinds. What stands behind it could be meant for a host, or for a path.
            Some(("sqlite", path)) if path.starts_with("//") => {
                Err(format!("the path of the database begins with //; {RIGHT} or sqlite:/var/lib/catalogue.db"))
            }
            Some(("sqlite", ":memory:")) => Ok(Self::Memory),
            Some(("sqlite", path)) => Ok(Self::File(PathBuf::from(path))),
            Some(("postgres" | "postgresql", _)) => Ok(Self::Postgres(Box::new(Postgres::parse(address)?))),
            Some((scheme, _)) => Err(format!("{scheme:?} is not a kind of database; {RIGHT}, {OR_POSTGRES}")),
            None => Err(format!("the address does not say what kind of database it is; {RIGHT}, {OR_POSTGRES}")),
        }
    }

    /// The same database behind a pooler, where it is PostgreSQL's.
    pub(crate) fn through_pooler(self) -> Self {
        self.with(Options::through_transaction_pooler)
    }

    /// The same database for a server, where it is PostgreSQL's: how many connections read, how long a read may take, and
    /// how far a replica may be behind.
    pub(crate) fn for_server(self, connections: NonZeroUsize, timeout: Duration, lag: Duration) -> Self {
        self.with(|options| options.connections(connections).deadline(timeout).greatest_lag(lag))
    }

    /// The same database, whose tables are made without triggers. A kind that has triggers on every engine is refused.
    pub(crate) fn without_triggers(self) -> Result<Self, String> {
        match self {
            Self::Postgres(_) => Ok(self.with(Options::without_triggers)),
            Self::File(_) | Self::Memory => Err("SQLite has triggers; leave it out".to_owned()),
        }
    }

    fn with(self, change: impl FnOnce(Options) -> Options) -> Self {
        match self {
            Self::Postgres(postgres) => Self::Postgres(Box::new(postgres.with(change))),
            other => other,
        }
    }

    /// The same database of PostgreSQL, whose request path reads from the standbys at those addresses. No message repeats
    /// any of an address.
    pub(crate) fn with_replicas(self, addresses: &[String]) -> Result<Self, String> {
        const RIGHT: &str = "name a database of PostgreSQL by --database, or leave them out";
        if addresses.is_empty() {
            return Ok(self);
        }
        let Self::Postgres(mut postgres) = self else {
            return Err(format!("only a database of PostgreSQL has replicas; {RIGHT}"));
        };
        for (number, address) in (1..).zip(addresses) {
            let replicated = postgres.replicated(address);
            postgres = Box::new(replicated.map_err(|error| format!("replica {number}: {error}"))?);
        }
        Ok(Self::Postgres(postgres))
    }

    /// Opens what is there.
    pub(crate) async fn open(&self) -> Result<Storage, Unopened> {
        Ok(match self {
            Self::File(path) => Storage::Sqlite(SqliteStorage::open(path)?),
            Self::Memory => Storage::Sqlite(SqliteStorage::in_memory()?),
            Self::Postgres(postgres) => Storage::Postgres(postgres.open().await?),
        })
    }

    /// Opens what is there, made and migrated as far as that is allowed.
    pub(crate) async fn open_for(&self, migration: Migration) -> Result<Storage, Unopened> {
        match (self, migration) {
            (Self::File(path), Migration::Allowed) => Ok(Storage::Sqlite(SqliteStorage::open_and_migrate(path)?)),
            (Self::Postgres(postgres), Migration::Allowed) => Ok(Storage::Postgres(postgres.open_and_migrate().await?)),
            _ => self.open().await,
        }
    }

    /// Opens what a rehearsal can be made on without a trace: for a database that is yet to be made, one in memory.
    /// That is one without a file too, and one whose making was broken off.
    pub(crate) async fn open_for_rehearsal(&self, migration: Migration) -> Result<Box<dyn AdminStorage>, Unopened> {
        match self {
            Self::File(path) if migration == Migration::Allowed => Ok(Box::new(match SqliteStorage::open(path) {
                Err(OpenError::Missing(_) | OpenError::OlderSchema { found: 0, .. }) => SqliteStorage::in_memory()?,
                found => found?,
            })),
            Self::Postgres(postgres) if migration == Migration::Allowed => match postgres.open_if_made().await? {
                Some(storage) => Ok(Box::new(storage)),
                None => Ok(Box::new(SqliteStorage::in_memory()?)),
            },
            _ => Ok(self.open().await?.into_admin()),
        }
    }

    /// Reports what can be seen of it before it is opened.
    pub(crate) fn look_at(&self, report: &mut Report) {
        if let Self::File(path) = self {
            file::look_at(path, report);
        }
    }

    /// Reports what can be seen of what is there, which is open as `storage`.
    pub(crate) async fn look_through(&self, storage: &Storage, report: &mut Report) {
        match (self, storage) {
            (Self::File(path), _) => file::look_through(path, report),
            (_, Storage::Postgres(storage)) => old_rows::look(storage, report).await,
            _ => {}
        }
    }

    /// Whether there is no file yet.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::File(path) if fs::symlink_metadata(path).is_err())
    }

    /// Removes a file that this run has made in vain, unless somebody else has put something into it meanwhile.
    pub(crate) async fn remove_if_empty(&self) {
        let Self::File(path) = self else { return };
        let is_empty = match SqliteStorage::open(path) {
            Ok(storage) => holds_nothing(&storage).await,
            Err(error) => matches!(error, OpenError::OlderSchema { found: 0, .. }),
        };
        if !is_empty {
            return;
        }
        for suffix in ["", "-wal", "-shm"] {
            let mut name = OsString::from(path);
            name.push(suffix);
            // What cannot be removed, or is not there, stays as it is: the failure that led here is what matters.
            let _ = fs::remove_file(name);
        }
    }

    /// Brings the schema up to date.
    pub(crate) async fn migrate(&self) -> Result<Migrated, Failure> {
        match self {
            Self::File(path) => {
                let migrated = SqliteStorage::migrate(path).map_err(|error| match &error {
                    OpenError::Failed { source, .. } if source.kind() == StorageErrorKind::OutcomeUnknown => {
                        unconfirmed(source)
                    }
                    _ => Failure::because(&error),
                })?;
                Ok(Migrated { from: migrated.from, to: migrated.to })
            }
            Self::Postgres(postgres) => Ok(postgres.migrate().await?),
            Self::Memory => Err(Failure::usage(format!(
                "{IN_MEMORY} ends with this command, so there is nothing to migrate; name a file, like sqlite:catalogue.db"
            ))),
        }
    }
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "sqlite:{}", printable(&path.to_string_lossy())),
            Self::Memory => f.write_str(IN_MEMORY),
            Self::Postgres(postgres) => postgres.fmt(f),
        }
    }
}

/// Reads the addresses of standbys. No message repeats any of one.
pub(crate) fn parse_replicas(addresses: &[String]) -> Result<Vec<String>, String> {
    for (number, address) in (1..).zip(addresses) {
        if !address.starts_with("postgres:") && !address.starts_with("postgresql:") {
            return Err(format!("replica {number} has no address of PostgreSQL; write postgres://USER@HOST/NAME"));
        }
        Postgres::parse(address).map_err(|error| format!("replica {number}: {error}"))?;
    }
    Ok(addresses.to_vec())
}

/// A migration that nobody confirmed.
fn unconfirmed(error: &StorageError) -> Failure {
    Failure::of_change(error, "the schema was brought up to date", "`catalogue migrate` finds out, and does it if not")
}

/// Whether there is no account, and so nothing at all.
async fn holds_nothing(storage: &dyn AdminStorage) -> bool {
    let mut found = false;
    let mut note = |_| {
        found = true;
        ControlFlow::Break(())
    };
    let exported = storage.export(Accounts::All, &mut note).await;
    exported.is_ok() && !found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import;

    #[test]
    fn addresses() {
        for (address, path) in [
            ("sqlite:catalogue.db", "catalogue.db"),
            ("sqlite:/var/lib/c d.db", "/var/lib/c d.db"),
            ("sqlite:a:b", "a:b"),
        ] {
            assert!(matches!(Database::parse(address), Ok(Database::File(found)) if found.as_os_str() == path));
        }
        assert!(matches!(Database::parse(IN_MEMORY), Ok(Database::Memory)));
        for address in ["sqlite:catalogue.db", IN_MEMORY, "sqlite:/var/lib/c d.db", "postgres://db/catalogue"] {
            assert_eq!(Database::parse(address).unwrap().to_string(), address);
        }
    }

    #[test]
    fn refuses_all_else_and_keeps_passwords_to_itself() {
        for (address, piece) in [
            ("", "what kind of database"),
            ("catalogue.db", "what kind of database"),
            ("hunter2", "what kind of database"),
            ("sqlite://hunter2.db", "begins with //"),
            ("sqlite:///var/lib/hunter2.db", "write sqlite:PATH"),
            ("sqlite:", "no path"),
            ("sqlite:a\0b", "zero byte"),
            ("SQLITE:a", "\"SQLITE\" is not a kind"),
            ("mysql://root:hunter2@db/catalogue", "\"mysql\" is not a kind"),
        ] {
            let message = Database::parse(address).unwrap_err();
            assert!(message.contains(piece) && message.contains("sqlite:catalogue.db"), "{address}: {message}");
            assert!(!message.contains("hunter2"), "{message}");
        }
    }

    #[test]
    fn replicas_are_of_postgresql_and_keep_their_passwords() {
        let primary = || Database::parse("postgres://u:hunter2@db/catalogue").unwrap();
        let sqlite = || Database::parse("sqlite:catalogue.db").unwrap();
        let replicas = ["postgres://u:hunter2@one/catalogue", "postgresql://two,three/catalogue"].map(str::to_owned);
        assert_eq!(parse_replicas(&replicas).as_deref(), Ok(&replicas[..]));
        let replicated = primary().with_replicas(&replicas).unwrap();
        assert_eq!(replicated.to_string(), "postgres://db/catalogue");
        assert!(!format!("{replicated:?}").contains("hunter2"), "{replicated:?}");
        for wrong in ["hunter2", "sqlite:hunter2", "postgres:hunter2", "postgres://u:p@hunter2@one/c"] {
            let message = parse_replicas(&[replicas[0].clone(), wrong.to_owned()]).unwrap_err();
            assert!(message.contains("replica 2") && message.contains("write postgres://"), "{message}");
            assert!(!message.contains("hunter2"), "{message}");
        }
        assert!(matches!(sqlite().with_replicas(&[]), Ok(Database::File(_))), "an empty list names none");
        assert!(sqlite().with_replicas(&replicas).unwrap_err().contains("only a database of PostgreSQL"));
    }

    #[tokio::test]
    async fn a_rehearsal_needs_a_directory() {
        let directory = tempfile::tempdir().unwrap();
        let rehearsed = async |path| {
            let opened = Database::File(path).open_for_rehearsal(Migration::Allowed).await;
            opened.map(|_| ()).map_err(Failure::from)
        };
        let missing = rehearsed(directory.path().join("no").join("catalogue.db")).await;
        assert!(matches!(missing, Err(Failure::Work(message)) if message.contains("directory")));
        let itself = rehearsed(directory.path().to_owned()).await;
        assert!(matches!(itself, Err(Failure::Work(message)) if message.contains("not a file")));
        assert!(rehearsed(directory.path().join("catalogue.db")).await.is_ok());
    }

    #[tokio::test]
    async fn only_an_empty_database_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let database = Database::File(directory.path().join("c.db"));
        let import = async |text: &str| {
            let storage = database.open_for(Migration::Allowed).await.unwrap();
            import::run_text(storage.admin(), "f", text, import::Options::default()).await
        };
        assert!(database.is_missing());
        import("").await.unwrap();
        database.remove_if_empty().await;
        assert!(database.is_missing());
        import("{\"type\":\"account\",\"id\":\"a\"}").await.unwrap();
        database.remove_if_empty().await;
        assert!(!database.is_missing());
    }
}

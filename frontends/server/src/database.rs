//! [`Database`]: the address that `--database` takes, and opening what is there.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use catalogue_core::AdminStorage;
use catalogue_sqlite::{Migrated, OpenError, SqliteStorage};

use crate::config::{Layers, Setting};
use crate::exit::Failure;
use crate::text::printable;

/// Where the data is unless `--database` says otherwise.
const DEFAULT: &str = "sqlite:catalogue.db";
const IN_MEMORY: &str = "sqlite::memory:";

/// A database that commands can open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Database {
    /// An SQLite file.
    File(PathBuf),
    /// An SQLite database in this process's memory.
    Memory,
}

/// Whether a command may make a missing database and bring an older one up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Migration {
    /// It may.
    Allowed,
    /// `--no-migrate` forbids it.
    Forbidden,
}

impl Migration {
    /// By `--no-migrate` and its other layers.
    pub(crate) fn unless_forbidden(layers: &Layers, no_migrate: bool) -> Result<Self, Failure> {
        Ok(if layers.flag(Setting::NoMigrate, no_migrate)? { Self::Forbidden } else { Self::Allowed })
    }
}

impl Database {
    /// The database that the layers name, or the default one.
    pub(crate) fn named(layers: &Layers, given: Option<String>) -> Result<Self, Failure> {
        Ok(Self::named_if_any(layers, given)?.unwrap_or_else(|| Self::parse(DEFAULT).expect("the default is right")))
    }

    /// The database that the layers name, if they do.
    pub(crate) fn named_if_any(layers: &Layers, given: Option<String>) -> Result<Option<Self>, Failure> {
        layers.text(Setting::Database, given)?.map(|address| address.parse(|text| Self::parse(text))).transpose()
    }

    /// Reads an address. No message repeats more of it than what stands before a colon: it may hold a password.
    fn parse(address: &str) -> Result<Self, String> {
        const RIGHT: &str = "write sqlite:PATH, like sqlite:catalogue.db";
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
            Some(("postgres" | "postgresql", _)) => Err(format!("this build has no PostgreSQL; {RIGHT}")),
            Some((scheme, _)) => Err(format!("{scheme:?} is not a kind of database; {RIGHT}")),
            None => Err(format!("the address does not say what kind of database it is; {RIGHT}")),
        }
    }

    /// Opens what is there.
    pub(crate) fn open(&self) -> Result<SqliteStorage, Failure> {
        opened(match self {
            Self::File(path) => SqliteStorage::open(path),
            Self::Memory => SqliteStorage::in_memory(),
        })
    }

    /// Opens what is there, made and migrated as far as that is allowed.
    pub(crate) fn open_for(&self, migration: Migration) -> Result<SqliteStorage, Failure> {
        match (self, migration) {
            (Self::File(path), Migration::Allowed) => opened(SqliteStorage::open_and_migrate(path)),
            _ => self.open(),
        }
    }

    /// Opens what a rehearsal can be made on without a trace: for a database that is yet to be made, one in memory.
    /// That is one without a file too, and one whose making was broken off.
    pub(crate) fn open_for_rehearsal(&self, migration: Migration) -> Result<SqliteStorage, Failure> {
        match self {
            Self::File(path) if migration == Migration::Allowed => opened(match SqliteStorage::open(path) {
                Err(OpenError::Missing(_) | OpenError::OlderSchema { found: 0, .. }) => SqliteStorage::in_memory(),
                found => found,
            }),
            _ => self.open(),
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
    pub(crate) fn migrate(&self) -> Result<Migrated, Failure> {
        match self {
            Self::File(path) => opened(SqliteStorage::migrate(path)),
            Self::Memory => Err(Failure::usage(format!(
                "{IN_MEMORY} ends with this command, so there is nothing to migrate; name a file, like {DEFAULT}"
            ))),
        }
    }
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "sqlite:{}", printable(&path.to_string_lossy())),
            Self::Memory => f.write_str(IN_MEMORY),
        }
    }
}

/// Whether there is no account, and so nothing at all.
async fn holds_nothing(storage: &dyn AdminStorage) -> bool {
    let mut found = false;
    let mut note = |_| {
        found = true;
        ControlFlow::Break(())
    };
    let exported = storage.export(&mut note).await;
    exported.is_ok() && !found
}

fn opened<T>(result: Result<T, OpenError>) -> Result<T, Failure> {
    result.map_err(|error| Failure::because(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import;

    #[test]
    fn addresses() {
        assert_eq!(Database::parse(DEFAULT), Ok(Database::File("catalogue.db".into())));
        assert_eq!(Database::parse("sqlite:/var/lib/c d.db"), Ok(Database::File("/var/lib/c d.db".into())));
        assert_eq!(Database::parse("sqlite:a:b"), Ok(Database::File("a:b".into())));
        assert_eq!(Database::parse(IN_MEMORY), Ok(Database::Memory));
        for address in [DEFAULT, IN_MEMORY, "sqlite:/var/lib/c d.db"] {
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
            ("postgres://catalogue:hunter2@db/catalogue", "no PostgreSQL"),
            ("postgresql://db/catalogue", "no PostgreSQL"),
        ] {
            let message = Database::parse(address).unwrap_err();
            assert!(message.contains(piece) && message.contains("sqlite:catalogue.db"), "{address}: {message}");
            assert!(!message.contains("hunter2"), "{message}");
        }
    }

    #[test]
    fn a_rehearsal_needs_a_directory() {
        let directory = tempfile::tempdir().unwrap();
        let rehearsed = |path| Database::File(path).open_for_rehearsal(Migration::Allowed);
        let missing = rehearsed(directory.path().join("no").join("catalogue.db"));
        assert!(matches!(missing, Err(Failure::Work(message)) if message.contains("directory")));
        let itself = rehearsed(directory.path().to_owned());
        assert!(matches!(itself, Err(Failure::Work(message)) if message.contains("not a file")));
        assert!(rehearsed(directory.path().join("catalogue.db")).is_ok());
    }

    #[tokio::test]
    async fn only_an_empty_database_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let database = Database::File(directory.path().join("c.db"));
        let import = |text: &'static str| {
            let storage = database.open_for(Migration::Allowed).unwrap();
            async move { import::run(&storage, "f", text.as_bytes(), import::Options::default()).await }
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

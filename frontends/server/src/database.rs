//! [`Database`]: the address that `--database` takes, and opening what is there.

use std::fs;
use std::path::{Path, PathBuf};

use catalogue_sqlite::{Migrated, OpenError, SqliteStorage};

use crate::config::{Layers, Setting};
use crate::exit::Failure;

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

    /// Reads an address. No message repeats more of it than the scheme: it may hold a password.
    fn parse(address: &str) -> Result<Self, String> {
        const RIGHT: &str = "write sqlite:PATH, like sqlite:catalogue.db";
        match address.split_once(':') {
            Some(("sqlite", "")) => Err(format!("the address of the database has no path; {RIGHT}")),
            Some(("sqlite", path)) if path.contains('\0') => {
                Err(format!("the path of the database has a zero byte; {RIGHT}"))
            }
            Some(("sqlite", ":memory:")) => Ok(Self::Memory),
            Some(("sqlite", path)) => Ok(Self::File(PathBuf::from(path))),
            Some(("postgres" | "postgresql", _)) => Err(format!("this build has no PostgreSQL; {RIGHT}")),
            Some((scheme, _)) => Err(format!("{scheme:?} is not a kind of database; {RIGHT}")),
            None => Err(format!("{address:?} does not say what kind of database it is; {RIGHT}")),
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
    pub(crate) fn open_for_rehearsal(&self, migration: Migration) -> Result<SqliteStorage, Failure> {
        match self {
            Self::File(path) if migration == Migration::Allowed && yet_to_be_made(path)? => {
                opened(SqliteStorage::in_memory())
            }
            _ => self.open(),
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

/// Whether the file is missing or empty, in a directory where one can be made.
fn yet_to_be_made(path: &Path) -> Result<bool, Failure> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.is_file() && metadata.len() == 0),
        Err(_) => match path.parent() {
            Some(directory) if !directory.as_os_str().is_empty() && !directory.is_dir() => {
                Err(Failure::because(&OpenError::MissingDirectory(path.to_owned())))
            }
            _ => Ok(true),
        },
    }
}

fn opened<T>(result: Result<T, OpenError>) -> Result<T, Failure> {
    result.map_err(|error| Failure::because(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        assert_eq!(Database::parse(DEFAULT), Ok(Database::File("catalogue.db".into())));
        assert_eq!(Database::parse("sqlite:/var/lib/c d.db"), Ok(Database::File("/var/lib/c d.db".into())));
        assert_eq!(Database::parse("sqlite:a:b"), Ok(Database::File("a:b".into())));
        assert_eq!(Database::parse(IN_MEMORY), Ok(Database::Memory));
    }

    #[test]
    fn refuses_all_else_and_keeps_passwords_to_itself() {
        for (address, piece) in [
            ("", "what kind of database"),
            ("catalogue.db", "what kind of database"),
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
        let missing = directory.path().join("no").join("catalogue.db");
        assert!(matches!(yet_to_be_made(&missing), Err(Failure::Work(message)) if message.contains("directory")));
        assert_eq!(yet_to_be_made(&directory.path().join("catalogue.db")), Ok(true));
        assert_eq!(yet_to_be_made(directory.path()), Ok(false));
        assert_eq!(yet_to_be_made(Path::new("a-file-that-nobody-made.db")), Ok(true));
    }
}

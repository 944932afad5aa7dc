//! [`Database`]: parses the address in `--database`; opens, checks, migrates and copies the database.

mod file;
mod postgres;
mod storage;
#[cfg(test)]
mod tests;

use std::fmt;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use catalogue_core::admin::AdminStorage;
use catalogue_core::storage::{StorageError, StorageErrorKind, ViewProblem};
/// Options of a PostgreSQL database.
pub(crate) use catalogue_postgres::Options as PostgresOptions;
use catalogue_sqlite::{OpenError, SqliteStorage};

use crate::exit::{Failure, chain};
use crate::report::Report;
use crate::text::printable;
use postgres::Postgres;
pub(crate) use postgres::parse_replicas;
pub(crate) use storage::Storage;

const IN_MEMORY: &str = "sqlite::memory:";
const USE_FILE: &str = "use a file, e.g. sqlite:catalogue.db";

/// A database that commands can open.
#[derive(Clone, Debug)]
pub(crate) enum Database {
    /// An SQLite file; `courses` is the file with views of another program's courses.
    File { path: PathBuf, courses: Option<PathBuf> },
    /// An SQLite database in this process's memory.
    Memory,
    /// A PostgreSQL database.
    Postgres(Box<Postgres>),
}

/// Failure to open a database.
#[derive(Debug)]
pub(crate) struct OpenFailure {
    /// The failure to report.
    pub(crate) failure: Failure,
    /// Whether a retry can succeed without other settings, for example once the database server has started.
    pub(crate) can_pass: bool,
    /// Whether the database does not exist yet, or its creation was interrupted.
    is_uncreated: bool,
    /// Problems of the views, if they are the reason.
    pub(crate) views: Vec<ViewProblem>,
}

impl From<OpenFailure> for Failure {
    fn from(open_failure: OpenFailure) -> Self {
        open_failure.failure
    }
}

impl From<OpenError> for OpenFailure {
    fn from(error: OpenError) -> Self {
        let is_uncreated = matches!(error, OpenError::Missing(_) | OpenError::OlderSchema { found: 0, .. });
        let views = if let OpenError::Views { problems, .. } = &error { problems.clone() } else { Vec::new() };
        Self { failure: error.into(), can_pass: false, is_uncreated, views }
    }
}

/// Whether a command may create a missing database and migrate an older one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Migration {
    Allowed,
    /// Because of `--no-migrate`, or because the command needs an existing database.
    Forbidden,
    /// Because the command reads only views: the catalogue's own tables may be missing.
    Unneeded,
}

impl Database {
    /// Parses an address. Messages repeat only the part before the first colon: the rest may hold a password.
    pub(crate) fn parse(address: &str) -> Result<Self, String> {
        const HINT: &str = "use sqlite:PATH, e.g. sqlite:catalogue.db";
        const OR_POSTGRES: &str = "or postgres://USER@HOST/NAME";
        match address.split_once(':') {
            Some(("sqlite", "")) => Err(format!("the database address has no path; {HINT}")),
            Some(("sqlite", path)) if path.contains('\0') => {
                Err(format!("the database path contains a zero byte; {HINT}"))
            }
            // The part after `//` could be meant as a host or as a path.
            Some(("sqlite", path)) if path.starts_with("//") => {
                Err(format!("the database path begins with //; {HINT} or sqlite:/var/lib/catalogue.db"))
            }
            Some(("sqlite", ":memory:")) => Ok(Self::Memory),
            Some(("sqlite", path)) if path.starts_with("file:") || has_parameters(path) => Err(format!(
                "the database path begins with file: or has parameters, and URIs are not supported; {HINT}"
            )),
            Some(("sqlite", path)) => Ok(Self::File { path: PathBuf::from(path), courses: None }),
            Some(("postgres" | "postgresql", _)) => Ok(Self::Postgres(Box::new(Postgres::parse(address)?))),
            Some((scheme, _)) => Err(format!("unknown kind of database {scheme:?}; {HINT}, {OR_POSTGRES}")),
            None => Err(format!("the database address has no scheme; {HINT}, {OR_POSTGRES}")),
        }
    }

    /// Applies `change` to the options of a PostgreSQL database. Returns other databases unchanged.
    pub(crate) fn with(self, change: impl FnOnce(PostgresOptions) -> PostgresOptions) -> Self {
        match self {
            Self::Postgres(postgres) => Self::Postgres(Box::new(postgres.with(change))),
            other => other,
        }
    }

    /// Adds standbys at `addresses`, from which requests read. Messages repeat none of them.
    pub(crate) fn with_replicas(self, addresses: &[String]) -> Result<Self, String> {
        const HINT: &str = "set --database to a PostgreSQL database, or omit them";
        if addresses.is_empty() {
            return Ok(self);
        }
        let Self::Postgres(mut postgres) = self else {
            return Err(format!("replicas need PostgreSQL; {HINT}"));
        };
        for (number, address) in (1..).zip(addresses) {
            let replicated = postgres.options.clone().replica(address);
            postgres.options = replicated.map_err(|error| format!("replica {number}: {error}"))?;
        }
        Ok(Self::Postgres(postgres))
    }

    /// Opens the existing database.
    pub(crate) async fn open(&self) -> Result<Storage, OpenFailure> {
        self.open_for(Migration::Forbidden).await
    }

    /// Opens the database; creates or migrates it first if that is allowed.
    pub(crate) async fn open_for(&self, migration: Migration) -> Result<Storage, OpenFailure> {
        Ok(match self {
            Self::File { path, courses } => {
                let opened = match (courses, migration) {
                    (None, Migration::Allowed) => SqliteStorage::open_and_migrate(path),
                    (None, _) => SqliteStorage::open(path),
                    (Some(courses), Migration::Forbidden) => SqliteStorage::open_views(path, courses),
                    (Some(courses), Migration::Allowed) => SqliteStorage::open_and_migrate_views(path, courses),
                    (Some(courses), Migration::Unneeded) => SqliteStorage::open_only_views(courses),
                };
                Storage::Sqlite(opened.map_err(|error| file::describe_failure(error, courses.as_ref()))?)
            }
            Self::Memory => Storage::Sqlite(SqliteStorage::in_memory()?),
            Self::Postgres(postgres) => Storage::Postgres(postgres.open(migration).await?),
        })
    }

    /// Opens the database without changing it. Opens an empty one in memory if it does not exist yet but may be created.
    pub(crate) async fn open_for_rehearsal(&self, migration: Migration) -> Result<Box<dyn AdminStorage>, OpenFailure> {
        match self.open().await {
            Err(open_failure) if open_failure.is_uncreated && migration == Migration::Allowed => {
                Ok(Box::new(SqliteStorage::in_memory()?))
            }
            opened => Ok(opened?.into_admin()),
        }
    }

    /// Checks an SQLite file before it is opened. Returns whether it is in WAL mode; `None` for other databases.
    pub(crate) fn check_files(&self, report: &mut Report) -> Option<bool> {
        let Self::File { path, courses } = self else { return None };
        if let Some(courses) = courses {
            file::check_courses_file(courses, report);
        }
        file::check_files(path, report)
    }

    /// Reports whether an SQLite file is damaged or not in WAL mode.
    pub(crate) fn check_integrity(&self, is_wal: Option<bool>, report: &mut Report) {
        if let Self::File { path, .. } = self {
            file::check_integrity(path, is_wal, report);
        }
    }

    /// Returns whether the database is an SQLite file that does not exist yet.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::File { path, .. } if fs::symlink_metadata(path).is_err())
    }

    /// Brings the schema up to date. Returns its version before (0 for a new database) and now.
    pub(crate) async fn migrate(&self) -> Result<(u32, u32), Failure> {
        match self {
            Self::File { path, courses } => {
                let migrated = match courses {
                    None => SqliteStorage::migrate(path),
                    Some(courses) => SqliteStorage::migrate_views(path, courses),
                };
                let migrated = migrated.map_err(|error| match &error {
                    OpenError::Failed { source, .. } if source.kind() == StorageErrorKind::OutcomeUnknown => {
                        unconfirmed(source)
                    }
                    _ => file::describe_failure(error, courses.as_ref()).failure,
                })?;
                Ok((migrated.from, migrated.to))
            }
            Self::Postgres(postgres) => Ok(postgres.migrate().await?),
            Self::Memory => Err(Failure::usage(format!("nothing to migrate: {IN_MEMORY} starts empty; {USE_FILE}"))),
        }
    }

    /// Copies the file of an SQLite database. Calls `progress` with the number of copied bytes and of all bytes. Returns
    /// the size of the copy in bytes, or `None` if `progress` stops it. After a stop or an error, no copy is left.
    pub(crate) fn copy(
        &self,
        target: &Path,
        progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<Option<u64>, Failure> {
        match self {
            Self::File { path, .. } => SqliteStorage::back_up_to(path, target, progress)
                .map_err(|error| Failure::work(format!("{}: {}", target.display(), chain(&error)))),
            Self::Memory => Err(Failure::usage(format!("nothing to copy: {IN_MEMORY} starts empty; {USE_FILE}"))),
            Self::Postgres(_) => Err(Failure::usage(format!(
                "{self} is a PostgreSQL database; use pg_dump --format=custom --file=FILE ADDRESS"
            ))),
        }
    }
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, .. } => write!(f, "sqlite:{}", printable(&path.to_string_lossy())),
            Self::Memory => f.write_str(IN_MEMORY),
            Self::Postgres(postgres) => postgres.fmt(f),
        }
    }
}

/// Returns whether a path ends like a URI, with `?NAME=VALUE`. Hardly anyone names a file like that on purpose.
fn has_parameters(path: &str) -> bool {
    let name = path.rsplit_once('?').and_then(|(_, query)| Some(query.split_once('=')?.0));
    name.is_some_and(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'))
}

/// Returns the failure of a migration with an unknown outcome.
fn unconfirmed(error: &StorageError) -> Failure {
    Failure::change_failed(error, "the schema was migrated", "run `catalogue migrate` to make sure")
}

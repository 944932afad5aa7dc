//! [`OpenError`]: why a database cannot be opened, and how to fix it.

use std::path::PathBuf;

use catalogue_core::storage::{StorageError, ViewProblem};

use crate::{address, error};

/// Why a database cannot be opened. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The connection string is not valid for a PostgreSQL database.
    #[error(
        "invalid connection string; use postgres://USER:PASSWORD@HOST/DATABASE, with special characters percent-encoded"
    )]
    Address,
    /// The connection string has an unknown parameter. The message does not name it: it may be a part of a password.
    #[error(
        "unknown parameter in the connection string; use postgres://USER:PASSWORD@HOST/DATABASE?NAME=VALUE with {}",
        address::parameters()
    )]
    UnknownParameter,
    /// A parameter occurs twice in the connection string.
    #[error("parameter {0} occurs twice in the connection string; use it once")]
    DuplicateParameter(&'static str),
    /// The connection string requires TLS, which this build lacks.
    #[error("the connection string requires TLS (sslmode), which this build lacks")]
    NoTls,
    /// The connection string is ambiguous about TLS, or lacks parameters that TLS needs.
    #[error(
        "TLS is always verified; use sslmode=verify-full (for sslrootcert, or sslcert and sslkey) or sslmode=disable"
    )]
    SslMode,
    /// A file that the connection string names has no usable certificate or key.
    #[error("{}: {reason}", .file.display())]
    Certificate {
        /// The file.
        file: PathBuf,
        /// Why it cannot be used.
        reason: String,
    },
    /// The engine only speaks PostgreSQL's protocol; its `version()` names another product.
    #[error("unsupported database {0}; use PostgreSQL, with the extension citus for several machines")]
    UnsupportedEngine(&'static str),
    /// The database's encoding is not UTF-8.
    #[error("the database has encoding {0}; create one with encoding UTF8")]
    Encoding(String),
    /// The catalogue's schema is also that of the views, or has another program's tables, perhaps with the same names.
    #[error("schema {0:?} has tables of another program; use another database or schema")]
    OtherApplication(String),
    /// The schema was created for courses in views but the options name no views, or the reverse.
    #[error(
        "schema {schema:?} was created for --courses {}; use this option, or another schema", if *views { "views" } else { "tables" }
    )]
    OtherCourseSource {
        /// The schema.
        schema: String,
        /// Whether it was created for courses that are read from views.
        views: bool,
    },
    /// The role lacks a privilege, or its sessions do not find the catalogue's tables. The message has the statement that
    /// fixes it.
    #[error("{0}")]
    Role(String),
    /// The views that courses are read from are missing or unreadable.
    #[error("cannot read the courses: {}", ViewProblem::line(.0))]
    Views(Vec<ViewProblem>),
    /// The tables were created by a build before the first release, whose schema this build cannot read.
    #[error(
        "schema {schema:?} has tables of an older, unreleased build, which this one cannot read: {}",
        if *.beside_views { "drop them or use another schema, and create new keys" } else {
            "export the courses with that build, import them into a new database with this one, and create new keys"
        }
    )]
    UnreleasedSchema {
        /// The schema that contains the tables.
        schema: String,
        /// Whether the schema was created for courses in views, so its tables hold no courses.
        beside_views: bool,
    },
    /// The database has no tables yet, or older ones than this program needs.
    #[error("the database has schema version {found}, but this program needs {known}; run `migrate`")]
    OlderSchema {
        /// The version found; 0 if the database has no tables of the catalogue.
        found: u32,
        /// The version that this program needs.
        known: u32,
    },
    /// The tables are newer than this program supports.
    #[error("the database has schema version {found}, but this program supports up to {known}; use the newer program")]
    NewerSchema {
        /// The version found.
        found: u32,
        /// The newest version that this program supports.
        known: u32,
    },
    /// The options request distributed tables, but this database, this node or other options do not allow them.
    #[error("{0}")]
    Distribution(&'static str),
    /// The database is unreachable, or failed.
    #[error("cannot open the database")]
    Failed(#[from] StorageError),
}

impl OpenError {
    /// Returns `true` if a retry may succeed without a change: the database is unreachable, starting, stopping, busy, or out
    /// of resources.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Failed(error) if error::is_transient(error))
    }
}

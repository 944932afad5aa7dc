//! [`OpenError`]: why a database cannot be opened, and how to fix it.

use std::path::PathBuf;

use catalogue_core::storage::{StorageError, ViewProblem};

use crate::{address, error};

/// Why a database cannot be opened. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The text is not the address of a PostgreSQL database.
    #[error(
        "the address is none of PostgreSQL; write postgres://USER:PASSWORD@HOST/DATABASE, with % and two hexadecimal \
         digits for each special character"
    )]
    Address,
    /// The address has a parameter that does not exist. It is not named, because it may be a part of a password.
    #[error(
        "the address has a parameter that does not exist; write postgres://USER:PASSWORD@HOST/DATABASE?NAME=VALUE; the \
         parameters are {}",
        address::parameters()
    )]
    UnknownParameter,
    /// A parameter occurs twice in the address.
    #[error("the address has the parameter {0} twice; write it once")]
    DuplicateParameter(&'static str),
    /// The address requires TLS, which this build lacks.
    #[error("the address asks for TLS (sslmode), which this build does not have")]
    NoTls,
    /// The address is ambiguous about TLS, or lacks parameters that TLS needs.
    #[error(
        "the address must say sslmode=verify-full, if it is to have sslrootcert or both of sslcert and sslkey, or \
         sslmode=disable; there is no TLS here that is not verified"
    )]
    SslMode,
    /// A file that the address names has no usable certificate or key.
    #[error("{}: {reason}", .file.display())]
    Certificate {
        /// The file.
        file: PathBuf,
        /// Why it cannot be used.
        reason: String,
    },
    /// The engine only speaks PostgreSQL's protocol; its `version()` names another product.
    #[error(
        "the database is {0}, which is not supported; use PostgreSQL, and to spread courses over several machines its \
         extension citus"
    )]
    UnsupportedEngine(&'static str),
    /// The database's encoding is not UTF-8.
    #[error("the database has the encoding {0}; make one with the encoding UTF8")]
    Encoding(String),
    /// The schema contains the views, or something of another program, such as a table with a name of the catalogue's.
    #[error("the schema {0:?} has tables of another program; name another database, or another schema for ours")]
    OtherApplication(String),
    /// The schema was created for courses in views and the options name none, or the reverse.
    #[error(
        "the schema {schema:?} was made for courses in {}; name another schema, or say so", if *views { "views" } else { "its own tables" }
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
    #[error("the courses cannot be read: {}", ViewProblem::line(.0))]
    Views(Vec<ViewProblem>),
    /// The tables were created by a build before the first release, whose schema this one cannot read.
    #[error(
        "the tables in the schema {schema:?} were made by an older, unreleased build, whose schema this one does not read: {}",
        if *.beside_views { "drop them or name another schema, and create new keys" } else {
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
    #[error(
        "the database has schema version {found} and this program needs {known}; bring it up to date with `migrate`"
    )]
    OlderSchema {
        /// The version found; 0 if the database has no tables of the catalogue.
        found: u32,
        /// The version that this program needs.
        known: u32,
    },
    /// The tables are newer than this program supports.
    #[error(
        "the database has schema version {found}, made by a newer program; this one knows up to {known}: use the newer \
         one"
    )]
    NewerSchema {
        /// The version found.
        found: u32,
        /// The newest version that this program supports.
        known: u32,
    },
    /// The tables are to be distributed, which this database, this node or these options do not allow.
    #[error("{0}")]
    Distribution(&'static str),
    /// The database is unreachable, or failed.
    #[error("the database cannot be opened")]
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

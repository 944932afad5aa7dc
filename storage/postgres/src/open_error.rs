//! [`OpenError`]: why a database cannot be opened, and what would be right.

use std::path::PathBuf;

use catalogue_core::storage::{StorageError, ViewFault};

use crate::{address, error};

/// Why a database cannot be opened. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The text is no address of a PostgreSQL database.
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
    /// The address has a parameter twice.
    #[error("the address has the parameter {0} twice; write it once")]
    Repeated(&'static str),
    /// The address asks for TLS.
    #[error("the address asks for TLS (sslmode), which this build does not have")]
    NoTls,
    /// The address leaves open whether there is TLS, or does not say all that is needed for it.
    #[error(
        "the address must say sslmode=verify-full, if it is to have sslrootcert or both of sslcert and sslkey, or \
         sslmode=disable; there is no TLS here that is not verified"
    )]
    SslMode,
    /// A file of the address has no certificate or key that could be used.
    #[error("{}: {reason}", .file.display())]
    Certificate {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The database only speaks PostgreSQL's language. It says itself, by `version()`, what it is.
    #[error(
        "the database is {0}, which is not supported; use PostgreSQL, and to spread courses over several machines its \
         extension citus"
    )]
    Engine(&'static str),
    /// The database keeps its texts in another encoding.
    #[error("the database has the encoding {0}; make one with the encoding UTF8")]
    Encoding(String),
    /// The schema has something of another program's, such as a table with the name of one of ours, or is that of the views.
    #[error("the schema {0:?} has tables of another program; name another database, or another schema for ours")]
    Foreign(String),
    /// The schema has our tables, with courses in them or without, and the other is asked for.
    #[error(
        "the schema {schema:?} was made for courses in {}; name another schema, or say so", if *views { "views" } else { "its own tables" }
    )]
    MadeForOther {
        /// The schema.
        schema: String,
        /// Whether it was made for courses that are read from views.
        views: bool,
    },
    /// The role may not make or use what it needs, or its sessions do not find our tables. The message has the statement that
    /// ends this.
    #[error("{0}")]
    Role(String),
    /// The views that courses are read from are missing, or cannot be read.
    #[error("the courses cannot be read: {}", ViewFault::line(.0))]
    Views(Vec<ViewFault>),
    /// The tables were made by a build from before the first release, whose schema this one does not read.
    #[error(
        "the tables in the schema {schema:?} were made by an older, unreleased build, whose schema this one does not read: {}",
        if *.beside_views { "drop them or name another schema, and create new keys" } else {
            "export the courses with that build, import them into a new database with this one, and create new keys"
        }
    )]
    UnreleasedSchema {
        /// The schema with the tables.
        schema: String,
        /// Whether they are keys beside views, and so no courses.
        beside_views: bool,
    },
    /// There are no tables yet, or older ones than this program's.
    #[error(
        "the database has schema version {found} and this program needs {known}; bring it up to date with `migrate`"
    )]
    OlderSchema {
        /// The version that it has; 0 where it has no tables of ours.
        found: u32,
        /// The version that this program needs.
        known: u32,
    },
    /// The tables are newer than this program's.
    #[error(
        "the database has schema version {found}, made by a newer program; this one knows up to {known}: use the newer \
         one"
    )]
    NewerSchema {
        /// The version that it has.
        found: u32,
        /// The newest version that this program knows.
        known: u32,
    },
    /// The tables are to be spread over nodes, which this database or this node cannot do, or with these options.
    #[error("{0}")]
    Spread(&'static str),
    /// The database is out of reach, or failed.
    #[error("the database cannot be opened")]
    Failed(#[from] StorageError),
}

impl OpenError {
    /// Whether it is worth another try, since it can pass by itself: the database is out of reach, is starting or stopping,
    /// has no room now, or is busy.
    #[must_use]
    pub fn can_pass(&self) -> bool {
        matches!(self, Self::Failed(error) if error::can_pass(error))
    }
}

//! Translates PostgreSQL's errors into messages that an operator can act on.

use std::borrow::Cow;
use std::error::Error as _;
use std::io;
use std::iter::successors;

use catalogue_core::storage::StorageError;
use catalogue_core::storage::StorageErrorKind::{
    self, AlreadyExists, Busy, Corrupt, InvalidValue, Other, OutcomeUnknown, Unavailable, UnknownReference,
};
use tokio_postgres::Error;
use tokio_postgres::error::{Severity, SqlState};

use crate::tls;

/// How to retry a failed read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retry {
    /// The connection or its prepared statement is gone: retry over another connection.
    Reconnect,
    /// The session still works: retry once in it.
    SameSession,
    /// Do not retry.
    None,
}

impl Retry {
    pub(crate) fn of(error: &StorageError) -> Self {
        let Some(error) = driver_error(error) else { return Self::None };
        let Some(code) = error.code() else {
            return if error.is_closed() || is_io(error) { Self::Reconnect } else { Self::None };
        };
        match *code {
            _ if ends_session(error) => Self::Reconnect,
            // "Cached plan must not change result type", after a change of the tables.
            SqlState::FEATURE_NOT_SUPPORTED | SqlState::INVALID_SQL_STATEMENT_NAME => Self::Reconnect,
            // Cancelled by a standby's replay of the primary's log, or deadlocked with a schema change.
            SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED => Self::SameSession,
            // A server behind the connected one is lost: Citus reports a lost worker this way.
            _ if is_lost(code) => Self::SameSession,
            _ => Self::None,
        }
    }
}

/// Returns `true` if the database closed the connection: by the severity, or by the code if an old pooler omits the severity.
fn ends_session(error: &Error) -> bool {
    let Some(error) = error.as_db_error() else { return false };
    match error.parsed_severity() {
        Some(severity) => matches!(severity, Severity::Fatal | Severity::Panic),
        None => is_lost(error.code()),
    }
}

/// Converts the error of a statement or of connecting. The database's own error becomes its source.
pub(crate) fn storage_error(error: Error) -> StorageError {
    let (kind, message) = kind_and_message(&error);
    StorageError::new(kind, message).with_source(error)
}

/// Converts the error of a removal: a foreign key violation means that another table, which the source names, has a reference.
pub(crate) fn removal_error(error: StorageError) -> StorageError {
    match (code(&error), cause(&error)) {
        (Some(&SqlState::FOREIGN_KEY_VIOLATION), Some(cause)) => {
            StorageError::new(Other, "another table still refers to the account").with_source(cause)
        }
        _ => error,
    }
}

/// Creates an error of the kind [`Unavailable`].
pub(crate) fn unavailable(message: impl Into<String>) -> StorageError {
    StorageError::new(Unavailable, message)
}

/// Returns the SQLSTATE of an error that came from the database.
pub(crate) fn code(error: &StorageError) -> Option<&SqlState> {
    driver_error(error)?.code()
}

/// Returns the database's own message.
pub(crate) fn cause(error: &StorageError) -> Option<String> {
    Some(driver_error(error)?.as_db_error()?.message().to_owned())
}

pub(crate) fn driver_error(error: &StorageError) -> Option<&Error> {
    successors(error.source(), |cause| (*cause).source()).find_map(|cause| cause.downcast_ref())
}

/// Returns `true` if the error is a lock timeout.
pub(crate) fn is_locked(error: &StorageError) -> bool {
    code(error) == Some(&SqlState::LOCK_NOT_AVAILABLE)
}

/// Returns the kind and the message of an error, for an operator.
pub(crate) fn kind_and_message(error: &Error) -> (StorageErrorKind, Cow<'static, str>) {
    if let Some(problem) = tls::problem(error) {
        return (Unavailable, problem.into());
    }
    // Only the database's own message names the object that the role may not use.
    if let Some(refusal) = error.as_db_error().filter(|refusal| *refusal.code() == SqlState::INSUFFICIENT_PRIVILEGE) {
        return (Unavailable, format!("the role lacks a privilege: {}; grant it", refusal.message()).into());
    }
    let (kind, message) = match error.code() {
        Some(code) => classify(code),
        None if error.is_closed() || is_io(error) => {
            (Unavailable, "the database is unreachable or closed the connection")
        }
        None if is_password_missing(error) => (
            Unavailable,
            "the database requires a password, but none is set; use postgres://USER:PASSWORD@HOST/DATABASE",
        ),
        None => (Other, "unexpected response from the database"),
    };
    (kind, message.into())
}

/// Returns `true` if an error of opening a database may pass without a change by the operator.
pub(crate) fn is_transient(error: &StorageError) -> bool {
    // Includes `OutcomeUnknown`: a repeated migration checks the schema again.
    if ![Busy, Unavailable, OutcomeUnknown].contains(&error.kind()) {
        return false;
    }
    // Without a source, the error is this crate's: a timeout, or a standby that may be promoted.
    let Some(error) = driver_error(error) else { return error.source().is_none() };
    match error.code() {
        Some(&SqlState::PROTOCOL_VIOLATION) => false,
        Some(code) => matches!(code.code().get(..2), Some("08" | "40" | "53" | "55" | "57")),
        None => tls::problem(error).is_none() && (error.is_closed() || is_io(error)),
    }
}

/// Converts the error of a column that is missing, null, or of an unexpected type.
pub(crate) fn corrupt(error: Error) -> StorageError {
    StorageError::new(Corrupt, "the database contains an invalid value").with_source(error)
}

fn classify(code: &SqlState) -> (StorageErrorKind, &'static str) {
    match *code {
        SqlState::QUERY_CANCELED => (Unavailable, "the database took too long"),
        SqlState::LOCK_NOT_AVAILABLE | SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED => {
            (Busy, "another program is writing to the same accounts; try again when it is done")
        }
        SqlState::READ_ONLY_SQL_TRANSACTION => {
            (Unavailable, "the database is read-only; use the primary and a role that may write")
        }
        SqlState::DISK_FULL => (Unavailable, "the database's disk is full"),
        SqlState::INVALID_CATALOG_NAME => (Unavailable, "the database does not exist"),
        SqlState::UNIQUE_VIOLATION => (AlreadyExists, "the record already exists"),
        SqlState::FOREIGN_KEY_VIOLATION => (UnknownReference, "the account does not exist"),
        SqlState::CHECK_VIOLATION | SqlState::NOT_NULL_VIOLATION => (InvalidValue, "the database rejected the value"),
        SqlState::PROTOCOL_VIOLATION => (Unavailable, "session settings were rejected, perhaps by a pooler"),
        SqlState::DUPLICATE_PSTATEMENT | SqlState::INVALID_SQL_STATEMENT_NAME => {
            (Unavailable, "other clients share the session, perhaps through a pooler")
        }
        _ if is_lost(code) => (Unavailable, "the database is unavailable (down, starting or shutting down)"),
        _ => match code.code().get(..2).unwrap_or_default() {
            "22" => (InvalidValue, "the database rejected the value"),
            "28" => (Unavailable, "authentication failed for this role"),
            "42" => (Corrupt, "the database has a different schema"),
            "53" => (Unavailable, "the database is out of memory, disk space or connections"),
            "58" => (Unavailable, "system error on the database server"),
            "XX" => (Corrupt, "internal error or corrupt data in the database"),
            _ => (Other, "the database failed"),
        },
    }
}

/// Returns `true` if the code means that a server is down, shutting down, or refusing connections for now.
fn is_lost(code: &SqlState) -> bool {
    let ends = [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN, SqlState::CANNOT_CONNECT_NOW];
    ends.contains(code) || code.code().starts_with("08") || code.code() == "57P05"
}

/// Returns `true` if the password is missing. tokio-postgres has no other sign of it.
fn is_password_missing(error: &Error) -> bool {
    error.source().is_some_and(|source| source.to_string() == "password missing")
}

fn is_io(error: &Error) -> bool {
    error.source().is_some_and(|source| source.downcast_ref::<io::Error>().is_some())
}

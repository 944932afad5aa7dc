//! Converts SQLite's errors into errors that an operator can act on.

use catalogue_core::storage::StorageErrorKind::{
    self, AlreadyExists, Busy, Corrupt, InvalidValue, Other, Unavailable, UnknownReference,
};
use catalogue_core::storage::{StorageError, ViewProblem};
use rusqlite::{Error, ErrorCode};

/// Converts the error of a statement. SQLite's own error is the source, except for an invalid row of a view.
pub(crate) fn storage_error(error: Error) -> StorageError {
    if let Error::FromSqlConversionFailure(_, _, source) = &error
        && let Some(problem) = source.downcast_ref::<ViewProblem>()
    {
        return StorageError::new(Corrupt, problem.to_string());
    }
    let (kind, message) = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            (Busy, "another program is writing to the database; try again when it is done")
        }
        Some(ErrorCode::OperationInterrupted) => (Unavailable, "a read took too long"),
        Some(ErrorCode::ReadOnly) if is_unfinished(&error) => {
            (Unavailable, "a program stopped during a write; start it again, so that SQLite rolls the write back")
        }
        Some(ErrorCode::ReadOnly) => {
            (Unavailable, "the database is read-only; make the file and its directory writable")
        }
        Some(ErrorCode::CannotOpen) => (
            Unavailable,
            "cannot open the database or a temporary file; for the latter, set TMPDIR or SQLITE_TMPDIR to a writable directory",
        ),
        Some(ErrorCode::DiskFull) => (Unavailable, "the disk is full"),
        Some(ErrorCode::SystemIoFailure) if has_no_temporary_directory(&error) => (
            Unavailable,
            "SQLite has no directory for temporary files; set TMPDIR or SQLITE_TMPDIR to a writable directory",
        ),
        Some(ErrorCode::SystemIoFailure) => (Unavailable, "the disk failed"),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => (Corrupt, "the database is corrupt"),
        Some(ErrorCode::ConstraintViolation) => constraint(&error),
        Some(ErrorCode::SchemaChanged) => (Corrupt, "the database has a different schema"),
        // A conversion has no code. It fails for a value that no writer of this schema stores.
        None if is_conversion(&error) => (Corrupt, "the database contains an invalid value"),
        _ => (Other, "the database failed"),
    };
    StorageError::new(kind, message).with_source(error)
}

/// Like [`storage_error`], for a removal: there a violated foreign key is a reference from another table.
pub(crate) fn removal_error(error: Error) -> StorageError {
    match error.sqlite_error().map(|error| error.extended_code) {
        Some(rusqlite::ffi::SQLITE_CONSTRAINT_FOREIGNKEY) => {
            StorageError::new(Other, "another table still refers to the account").with_source(error)
        }
        _ => storage_error(error),
    }
}

/// Returns whether another connection had locked the database.
pub(crate) fn is_locked(error: &StorageError) -> bool {
    let cause = std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<Error>());
    let code = cause.and_then(Error::sqlite_error_code);
    matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Returns whether a left-over journal or WAL must be recovered by a process that may write.
fn is_unfinished(error: &Error) -> bool {
    use rusqlite::ffi::{SQLITE_READONLY_RECOVERY, SQLITE_READONLY_ROLLBACK};

    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(code, Some(SQLITE_READONLY_ROLLBACK | SQLITE_READONLY_RECOVERY))
}

fn has_no_temporary_directory(error: &Error) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == rusqlite::ffi::SQLITE_IOERR_GETTEMPPATH)
}

/// Returns the kind and message for the rule of the schema that a statement would have broken.
fn constraint(error: &Error) -> (StorageErrorKind, &'static str) {
    use rusqlite::ffi::{
        SQLITE_CONSTRAINT_CHECK, SQLITE_CONSTRAINT_FOREIGNKEY, SQLITE_CONSTRAINT_NOTNULL, SQLITE_CONSTRAINT_PRIMARYKEY,
        SQLITE_CONSTRAINT_UNIQUE,
    };

    match error.sqlite_error().map_or(0, |error| error.extended_code) {
        SQLITE_CONSTRAINT_PRIMARYKEY | SQLITE_CONSTRAINT_UNIQUE => (AlreadyExists, "the record already exists"),
        SQLITE_CONSTRAINT_FOREIGNKEY => (UnknownReference, "the account does not exist"),
        SQLITE_CONSTRAINT_CHECK | SQLITE_CONSTRAINT_NOTNULL => (InvalidValue, "the database rejected the value"),
        _ => (Other, "the database rejected the change"),
    }
}

fn is_conversion(error: &Error) -> bool {
    use Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType};

    matches!(error, FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..))
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    /// SQLite's own error is the source, by which `is_locked` recognizes a lock.
    #[test]
    fn error_kind_and_message_match_sqlite_code() {
        for (code, kind, words) in [
            (ffi::SQLITE_BUSY, Busy, "another program is writing"),
            (ffi::SQLITE_LOCKED, Busy, "another program is writing"),
            (ffi::SQLITE_INTERRUPT, Unavailable, "took too long"),
            (ffi::SQLITE_READONLY, Unavailable, "read-only"),
            (ffi::SQLITE_READONLY_RECOVERY, Unavailable, "start it again"),
            (ffi::SQLITE_READONLY_ROLLBACK, Unavailable, "start it again"),
            (ffi::SQLITE_CANTOPEN, Unavailable, "cannot open"),
            (ffi::SQLITE_FULL, Unavailable, "the disk is full"),
            (ffi::SQLITE_IOERR, Unavailable, "the disk failed"),
            (ffi::SQLITE_IOERR_GETTEMPPATH, Unavailable, "set TMPDIR or SQLITE_TMPDIR"),
            (ffi::SQLITE_CORRUPT, Corrupt, "corrupt"),
            (ffi::SQLITE_NOTADB, Corrupt, "corrupt"),
            (ffi::SQLITE_SCHEMA, Corrupt, "a different schema"),
            (ffi::SQLITE_CONSTRAINT_PRIMARYKEY, AlreadyExists, "record already exists"),
            (ffi::SQLITE_CONSTRAINT_UNIQUE, AlreadyExists, "record already exists"),
            (ffi::SQLITE_CONSTRAINT_FOREIGNKEY, UnknownReference, "the account does not exist"),
            (ffi::SQLITE_CONSTRAINT_CHECK, InvalidValue, "rejected the value"),
            (ffi::SQLITE_CONSTRAINT_NOTNULL, InvalidValue, "rejected the value"),
            (ffi::SQLITE_CONSTRAINT_TRIGGER, Other, "rejected the change"),
            (ffi::SQLITE_ERROR, Other, "the database failed"),
        ] {
            let error = storage_error(Error::SqliteFailure(ffi::Error::new(code), None));
            assert_eq!(error.kind(), kind, "{code}");
            assert!(error.to_string().contains(words), "{code}: {error}");
            assert_eq!(is_locked(&error), words.contains("writing"), "{code}");
        }
    }
}

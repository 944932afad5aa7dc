//! Converts SQLite's errors into ones that an operator can act on.

use catalogue_core::storage::StorageErrorKind::{
    self, AlreadyExists, Busy, Corrupt, InvalidValue, Other, Unavailable, UnknownReference,
};
use catalogue_core::storage::{StorageError, ViewProblem};
use rusqlite::{Error, ErrorCode};

/// Converts the error of a statement. SQLite's own error is the source.
pub(crate) fn storage_error(error: Error) -> StorageError {
    if let Error::FromSqlConversionFailure(_, _, source) = &error
        && let Some(row) = source.downcast_ref::<ViewProblem>()
    {
        return StorageError::new(Corrupt, row.to_string());
    }
    let (kind, message) = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            (Busy, "another program is writing to the database; try again when it is done")
        }
        Some(ErrorCode::OperationInterrupted) => (Unavailable, "a read took too long"),
        Some(ErrorCode::ReadOnly) if is_unfinished(&error) => {
            (Unavailable, "a program stopped within a change to the database; start it again, so that it undoes that")
        }
        Some(ErrorCode::ReadOnly) => {
            (Unavailable, "the database is read-only; make the file and its directory writable")
        }
        Some(ErrorCode::CannotOpen) => (
            Unavailable,
            "the database file, or a temporary one, cannot be opened; set TMPDIR or SQLITE_TMPDIR to a directory that can be \
             written if the former can",
        ),
        Some(ErrorCode::DiskFull) => (Unavailable, "the disk is full"),
        Some(ErrorCode::SystemIoFailure) if has_no_temporary_directory(&error) => (
            Unavailable,
            "SQLite finds no directory for its temporary files; set TMPDIR or SQLITE_TMPDIR to a directory that can be written",
        ),
        Some(ErrorCode::SystemIoFailure) => (Unavailable, "the disk failed"),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => (Corrupt, "the database is damaged"),
        Some(ErrorCode::ConstraintViolation) => constraint(&error),
        Some(ErrorCode::SchemaChanged) => (Corrupt, "the database has another schema"),
        // An error without a code: a value that no writer of this schema stores.
        None if is_conversion(&error) => (Corrupt, "the database holds a value that it must not"),
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
        SQLITE_CONSTRAINT_PRIMARYKEY | SQLITE_CONSTRAINT_UNIQUE => (AlreadyExists, "there is such a record already"),
        SQLITE_CONSTRAINT_FOREIGNKEY => (UnknownReference, "there is no such account"),
        SQLITE_CONSTRAINT_CHECK | SQLITE_CONSTRAINT_NOTNULL => {
            (InvalidValue, "the database does not take such a value")
        }
        _ => (Other, "the database refused the change"),
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

    /// Kind and message name the remedy; SQLite's own error remains the cause.
    #[test]
    fn each_code_is_told_by_what_to_do_about_it() {
        for (code, kind, words) in [
            (ffi::SQLITE_BUSY, Busy, "another program is writing"),
            (ffi::SQLITE_LOCKED, Busy, "another program is writing"),
            (ffi::SQLITE_INTERRUPT, Unavailable, "took too long"),
            (ffi::SQLITE_READONLY, Unavailable, "read-only"),
            (ffi::SQLITE_READONLY_RECOVERY, Unavailable, "start it again"),
            (ffi::SQLITE_READONLY_ROLLBACK, Unavailable, "start it again"),
            (ffi::SQLITE_CANTOPEN, Unavailable, "cannot be opened"),
            (ffi::SQLITE_FULL, Unavailable, "the disk is full"),
            (ffi::SQLITE_IOERR, Unavailable, "the disk failed"),
            (ffi::SQLITE_IOERR_GETTEMPPATH, Unavailable, "set TMPDIR or SQLITE_TMPDIR"),
            (ffi::SQLITE_CORRUPT, Corrupt, "damaged"),
            (ffi::SQLITE_NOTADB, Corrupt, "damaged"),
            (ffi::SQLITE_SCHEMA, Corrupt, "another schema"),
            (ffi::SQLITE_CONSTRAINT_PRIMARYKEY, AlreadyExists, "such a record already"),
            (ffi::SQLITE_CONSTRAINT_UNIQUE, AlreadyExists, "such a record already"),
            (ffi::SQLITE_CONSTRAINT_FOREIGNKEY, UnknownReference, "no such account"),
            (ffi::SQLITE_CONSTRAINT_CHECK, InvalidValue, "such a value"),
            (ffi::SQLITE_CONSTRAINT_NOTNULL, InvalidValue, "such a value"),
            (ffi::SQLITE_CONSTRAINT_TRIGGER, Other, "refused the change"),
            (ffi::SQLITE_ERROR, Other, "the database failed"),
        ] {
            let error = storage_error(Error::SqliteFailure(ffi::Error::new(code), None));
            assert_eq!(error.kind(), kind, "{code}");
            assert!(error.to_string().contains(words), "{code}: {error}");
            assert_eq!(is_locked(&error), words.contains("writing"), "{code}");
        }
    }
}

//! [`StorageError`]: failure of a storage, classified by what an operator would do about it.

use std::error::Error;

/// Reason why a call of a storage failed. It is independent of HTTP; a missing record is not an error.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct StorageError {
    kind: StorageErrorKind,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// Kind of a [`StorageError`], by what an operator would do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StorageErrorKind {
    /// The storage is unreachable, or too slow now: check its machine and its load.
    Unavailable,
    /// Another program holds a lock for too long, or has changed the same data: try again.
    Busy,
    /// The storage contains invalid data, or has another schema: repair or migrate it.
    Corrupt,
    /// The call names something that does not exist, such as an unknown account: correct the call.
    UnknownReference,
    /// The call adds something that exists already: correct the call.
    AlreadyExists,
    /// The call contains a value that cannot be stored: correct the call.
    InvalidValue,
    /// A change may have been made or not, since the response to its commit was lost: check before you repeat it. After
    /// an error of any other kind, nothing has changed.
    OutcomeUnknown,
    /// The storage never supports this: its courses belong to another program, which changes them.
    Unsupported,
    /// Anything else.
    Other,
}

impl StorageError {
    /// Creates an error with a sentence for the operator's log.
    pub fn new(kind: StorageErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// Adds the error's cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns the error's kind.
    #[must_use]
    pub const fn kind(&self) -> StorageErrorKind {
        self.kind
    }
}

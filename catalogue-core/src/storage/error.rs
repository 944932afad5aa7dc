//! [`StorageError`]: what an operator would act on.

use std::error::Error;

/// Why a storage could not do its work. It knows no HTTP, and "not there" is no error.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct StorageError {
    kind: StorageErrorKind,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// The kind of a [`StorageError`], by what an operator would do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StorageErrorKind {
    /// The storage is out of reach, or too slow now: look at its machine and its load.
    Unavailable,
    /// The storage holds what it must not hold, or has another schema: repair or migrate it.
    Corrupt,
    /// The call names something that is not there, such as an unknown account: correct the call.
    UnknownReference,
    /// The call adds something that is there already: correct the call.
    AlreadyThere,
    /// The call holds a value that cannot be stored: correct the call.
    InvalidValue,
    /// A change may have been made or not, since the answer to its commit was lost: look before you repeat it. After an
    /// error of any other kind nothing has changed.
    OutcomeUnknown,
    /// The storage never does this: its courses belong to another program, which changes them.
    Unsupported,
    /// Anything else.
    Other,
}

impl StorageError {
    /// An error with a sentence for the operator's log.
    pub fn new(kind: StorageErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// The same with what caused it.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What an operator would do about it.
    #[must_use]
    pub const fn kind(&self) -> StorageErrorKind {
        self.kind
    }
}

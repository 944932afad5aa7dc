//! [`StorageError`]: what an operator would act on.

use std::error::Error;
use std::fmt;

/// Why a storage could not do its work. It knows no HTTP, and "not there" is no error.
#[derive(Debug)]
pub struct StorageError {
    kind: StorageErrorKind,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// What an operator would do about a [`StorageError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StorageErrorKind {
    /// The storage is out of reach, or too slow now: look at its machine and its load.
    Unavailable,
    /// The storage holds what it must not hold, or another schema: mend it or migrate it.
    Corrupt,
    /// The call names something that is not there, such as an unknown account: mend the call.
    UnknownReference,
    /// The call adds something that is there already: mend the call.
    AlreadyThere,
    /// The call holds a value that cannot be stored: mend the call.
    InvalidValue,
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

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for StorageError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

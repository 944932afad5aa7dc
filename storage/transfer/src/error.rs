//! [`ImportError`]: why an import failed.

use std::collections::BTreeMap;
use std::fmt;

use catalogue_core::storage::StorageError;
use thiserror::Error;

/// Maximum number of reported lines: the errors of a long input could fill a terminal.
const MAX_ERRORS: usize = 20;

/// Why an import failed. Nothing has changed, unless it is an error of the storage of the kind
/// [`OutcomeUnknown`](catalogue_core::storage::StorageErrorKind::OutcomeUnknown).
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The input is invalid, or cannot be read.
    #[error("{}", in_one_line(errors))]
    Input {
        /// One for each invalid line, in order, or a single one about the whole input.
        errors: Vec<LineError>,
        /// Whether there may be more: the check stops at 20.
        stopped: bool,
    },
    /// The storage has failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Error in an input. Text that it quotes from the input is printable and shortened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineError {
    /// The number of the line, from 1; `None` if the error is about the whole input.
    pub line: Option<u64>,
    /// The field, if the error is about one field; what is wrong; and often how to fix it.
    pub message: String,
}

impl ImportError {
    /// Creates an error about the whole input.
    pub(crate) fn from_input(message: String) -> Self {
        Self::Input { errors: vec![LineError { line: None, message }], stopped: false }
    }
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.message)
    }
}

fn in_one_line(errors: &[LineError]) -> String {
    errors.iter().map(LineError::to_string).collect::<Vec<_>>().join("; ")
}

/// Errors by line number.
#[derive(Debug, Default)]
pub(crate) struct LineErrors(BTreeMap<u64, String>);

impl LineErrors {
    /// Records the error of a line; replaces an earlier error of this line. Drops errors beyond the limit.
    pub(crate) fn add(&mut self, line: u64, message: String) {
        if !self.is_full() {
            self.0.insert(line, message);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the limit is reached.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= MAX_ERRORS
    }

    /// Returns an error if any line has one.
    pub(crate) fn finish(self) -> Result<(), ImportError> {
        if self.is_empty() {
            return Ok(());
        }
        let stopped = self.is_full();
        let errors = self.0.into_iter().map(|(line, message)| LineError { line: Some(line), message }).collect();
        Err(ImportError::Input { errors, stopped })
    }
}

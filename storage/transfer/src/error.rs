//! [`ImportError`]: why nothing was imported.

use std::collections::BTreeMap;
use std::fmt;

use catalogue_core::storage::StorageError;
use thiserror::Error;

/// Maximum number of reported lines: the errors of a long input could fill a terminal.
const MOST: usize = 20;

/// Why an import failed. Nothing has changed, unless it is an error of the storage of the kind
/// [`OutcomeUnknown`](catalogue_core::storage::StorageErrorKind::OutcomeUnknown).
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The input is invalid, or cannot be read.
    #[error("{}", in_one_line(faults))]
    Input {
        /// One for each invalid line, in order; at least one.
        faults: Vec<Fault>,
        /// Whether there may be more: the check stops at 20.
        stopped: bool,
    },
    /// The storage has failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Error in an input. It has no control characters, and at most a few hundred bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The number of the line, from 1; `None` if the error is about the whole input.
    pub line: Option<u64>,
    /// The error, with the field if it is about a single one, and how to fix it.
    pub what: String,
}

impl ImportError {
    /// Creates an error about the whole input.
    pub(crate) fn of_input(what: String) -> Self {
        Self::Input { faults: vec![Fault { line: None, what }], stopped: false }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.what)
    }
}

fn in_one_line(faults: &[Fault]) -> String {
    faults.iter().map(Fault::to_string).collect::<Vec<_>>().join("; ")
}

/// Errors by line number.
#[derive(Debug, Default)]
pub(crate) struct Faults(BTreeMap<u64, String>);

impl Faults {
    /// Records the error of a line, instead of an earlier one. Errors beyond the limit are dropped.
    pub(crate) fn add(&mut self, line: u64, what: String) {
        if !self.is_full() {
            self.0.insert(line, what);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the limit is reached.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= MOST
    }

    /// Returns an error if any line has one.
    pub(crate) fn finish(self) -> Result<(), ImportError> {
        if self.is_empty() {
            return Ok(());
        }
        let stopped = self.is_full();
        let faults = self.0.into_iter().map(|(line, what)| Fault { line: Some(line), what }).collect();
        Err(ImportError::Input { faults, stopped })
    }
}

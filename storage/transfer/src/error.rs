//! [`ImportError`]: why nothing was imported.

use std::collections::BTreeMap;
use std::fmt;

use catalogue_core::storage::StorageError;
use thiserror::Error;

/// How many are told: what is wrong with each line of a long input would fill a terminal.
const MOST: usize = 20;

/// Why an import failed. Nothing has changed then, unless it is of the storage and its kind is
/// [`OutcomeUnknown`](catalogue_core::storage::StorageErrorKind::OutcomeUnknown).
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The input is wrong, or cannot be read.
    #[error("{}", in_one_line(faults))]
    Input {
        /// One for each line that is wrong, in their order; at least one.
        faults: Vec<Fault>,
        /// Whether there may be more: the check ends when it has found twenty.
        stopped: bool,
    },
    /// The storage has failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// What is wrong with an input. It has no control characters, and some hundred bytes at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The number of the line, from 1 on; `None` where it is the input as a whole.
    pub line: Option<u64>,
    /// What is wrong, with the field if it is one field, and what would be right.
    pub what: String,
}

impl ImportError {
    /// Something wrong with the input as a whole.
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

/// What is wrong with each line, by its number.
#[derive(Debug, Default)]
pub(crate) struct Faults(BTreeMap<u64, String>);

impl Faults {
    /// Notes what is wrong with a line, which may be noted already. What comes after the last one that is told is left out.
    pub(crate) fn add(&mut self, line: u64, what: String) {
        if !self.is_full() {
            self.0.insert(line, what);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it is time to stop.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= MOST
    }

    /// An error where there is a fault.
    pub(crate) fn finish(self) -> Result<(), ImportError> {
        if self.is_empty() {
            return Ok(());
        }
        let stopped = self.is_full();
        let faults = self.0.into_iter().map(|(line, what)| Fault { line: Some(line), what }).collect();
        Err(ImportError::Input { faults, stopped })
    }
}

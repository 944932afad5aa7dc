#![doc = include_str!("../README.md")]

mod batch;
mod check;
mod error;
mod export;
mod import;
mod input;
mod line;
mod line_error;
mod object;
mod reader;
mod report;
mod spool;

pub use check::CheckedInput;
pub use error::{ImportError, LineError};
pub use export::{ExportError, export};
pub use import::{Options, PreparedImport, import_text};
pub use input::Input;
pub use report::{Counts, Report};

/// JSON Schema (draft 2020-12) of a line of the format.
pub const SCHEMA: &str = include_str!("schema.json");

#[cfg(test)]
mod tests;

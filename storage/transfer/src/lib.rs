#![doc = include_str!("../README.md")]

mod check;
mod error;
mod export;
mod import;
mod input;
mod line;
mod line_fault;
mod object;
mod put;
mod reader;
mod report;
mod spool;

pub use check::Checked;
pub use error::{Fault, ImportError};
pub use export::{ExportError, export};
pub use import::{Options, Prepared, import_text};
pub use input::Input;
pub use report::{Counts, Report};

/// JSON Schema (draft 2020-12) of a line of the format.
pub const SCHEMA: &str = include_str!("schema.json");

#[cfg(test)]
mod tests;

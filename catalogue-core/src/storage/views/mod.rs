//! Views over another program's tables, as both databases read them: their columns and rows, and [`CourseViews`].
//!
//! Databases hand over rows ([`Cells`]); what a value must be, and what a fault says, is here ([`ViewRow`]). Checks of several rows
//! are SQL that both understand ([`RowCheck`]).

mod checks;
mod columns;
mod row;
mod value;

use std::error::Error;
use std::fmt;

use async_trait::async_trait;

use super::StorageError;
pub use checks::{Dialect, RowCheck};
pub use columns::{ACCOUNTS, COURSES, Kind, MODULE_COUNT, MODULES, REVISIONS, VIEWS};
pub use row::ViewRow;
pub use value::{Cells, Column, Owner, Page, Value};

/// Looks at the views that courses are read from, where the tables behind them belong to another program.
///
/// The request path does not use it: it is for command lines and the start of a server. Each call fails when the database cannot
/// be asked.
#[async_trait]
pub trait CourseViews: fmt::Debug + Send + Sync {
    /// What the API could not serve: views and columns that are missing or of a type that cannot be read, and rows that
    /// break the contract of [`CourseStorage`](super::CourseStorage). Faults of one kind and view may be cut at a hundred.
    async fn check_views(&self, rows: CheckedRows) -> Result<Vec<ViewFault>, StorageError>;

    /// Optional columns without which requests are slower: `module_count`, without which each course of a list costs a count.
    async fn check_columns(&self) -> Result<Vec<ViewAdvice>, StorageError>;

    /// Reasons why the storage does not rely on `catalogue_revisions`, such as a table without its triggers. Responses are
    /// right all the same, and cached for a shorter time or not at all.
    async fn check_revisions(&self) -> Result<Vec<ViewAdvice>, StorageError> {
        Ok(Vec::new())
    }

    /// Requests whose plan scans a table or sorts, for the largest account that a bounded look finds, with the index that ends it
    /// as a template in the words of the views; large tables without statistics.
    async fn check_plans(&self) -> Result<Vec<ViewAdvice>, StorageError>;

    /// What the role may do beyond reading the views and owning the tables of ours.
    async fn check_rights(&self) -> Result<Vec<ViewAdvice>, StorageError>;
}

/// How many rows of each view are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckedRows {
    /// At most 10,000.
    Sample,
    /// Each.
    All,
}

impl CheckedRows {
    /// Returns the end of a statement that reads as many rows.
    #[must_use]
    pub fn limit(self) -> &'static str {
        match self {
            Self::Sample => " LIMIT 10000",
            Self::All => "",
        }
    }
}

/// One thing of a view that the API cannot serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewFault {
    /// The view, such as `catalogue_courses`.
    pub view: &'static str,
    /// The key of the row, such as `acc_1, rust-basics`; `None` where it is about the view or one of its columns.
    pub key: Option<String>,
    /// What is wrong.
    pub what: String,
    /// What would be right.
    pub wanted: String,
}

impl fmt::Display for ViewFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { view, key: Some(key), what, wanted } => write!(f, "{view} ({key}): {what}; wanted: {wanted}"),
            Self { view, key: None, what, wanted } => write!(f, "{view}: {what}; {wanted}"),
        }
    }
}

impl Error for ViewFault {}

impl ViewFault {
    /// Returns faults as one line.
    #[must_use]
    pub fn line(faults: &[Self]) -> String {
        faults.iter().map(Self::to_string).collect::<Vec<_>>().join(". ")
    }
}

/// One thing that works, and could be better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewAdvice {
    /// What it is about, such as `the first page`.
    pub about: String,
    /// What is seen.
    pub what: String,
    /// The statement that makes it better, such as a `CREATE INDEX`, if one is known. Names in angle brackets are the reader's.
    pub remedy: Option<String>,
}

impl ViewAdvice {
    /// The advice for a view of courses without `module_count`.
    #[must_use]
    pub fn module_count() -> Self {
        Self {
            about: "catalogue_courses".to_owned(),
            what: "it has no `module_count`, so each course of a list costs a count of its modules".to_owned(),
            remedy: Some("add the column; cheapest is a number that your program keeps".to_owned()),
        }
    }
}

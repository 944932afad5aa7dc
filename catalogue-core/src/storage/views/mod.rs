//! Views over another program's tables, as both databases read them: their columns and rows, and [`CourseViews`].
//!
//! Databases provide the rows ([`Cells`]); valid values and the messages about invalid ones are defined here ([`ViewRow`]).
//! Checks across several rows are SQL that both databases understand ([`RowCheck`]).

mod checks;
mod columns;
mod row;
mod value;

use std::error::Error;
use std::fmt;

use async_trait::async_trait;

use super::StorageError;
use crate::model::{Account, AccountId};
pub use checks::{Dialect, RowCheck};
pub use columns::{ACCOUNTS, COURSES, Kind, MODULES, OPTIONAL_COLUMNS, REVISIONS, VIEWS};
pub use row::ViewRow;
pub use value::{Cells, Column, Owner, Page, Value};

/// Checks of the views that courses are read from, if the tables behind them belong to another program.
///
/// The request path does not use them: they are for command lines and server startup. Each call fails if the database
/// cannot be queried.
#[async_trait]
pub trait CourseViews: fmt::Debug + Send + Sync {
    /// Returns the account with its owner's name, or `None` if the views do not name it. The email address is empty.
    async fn find_account(&self, account: &AccountId) -> Result<Option<Account>, StorageError>;

    /// Returns what the API could not serve: missing views and columns, types that cannot be read, and rows that break the
    /// contract of [`CourseStorage`](super::CourseStorage). Problems of one kind and view may be cut off at a hundred.
    async fn check_views(&self, rows: CheckedRows) -> Result<Vec<ViewProblem>, StorageError>;

    /// Returns missing optional columns that slow requests down: without `module_count`, each listed course costs a count.
    async fn check_columns(&self) -> Result<Vec<ViewAdvice>, StorageError>;

    /// Returns reasons why the storage does not rely on `catalogue_revisions`, such as a table without its triggers.
    /// Responses are correct all the same, but cached for a shorter time or not at all.
    async fn check_revisions(&self) -> Result<Vec<ViewAdvice>, StorageError>;

    /// Returns requests whose plan for a large account scans a table or sorts, each with a template (in terms of the views)
    /// for an index that avoids this. A bounded search selects the account. Also returns large tables without statistics.
    async fn check_plans(&self) -> Result<Vec<ViewAdvice>, StorageError>;

    /// Returns the role's rights beyond reading the views and owning the catalogue's tables.
    async fn check_rights(&self) -> Result<Vec<ViewAdvice>, StorageError>;
}

/// Number of rows of each view to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckedRows {
    /// At most 10,000.
    Sample,
    /// All rows.
    All,
}

impl CheckedRows {
    /// Returns the end of a statement that reads this number of rows.
    #[must_use]
    pub fn limit(self) -> &'static str {
        match self {
            Self::Sample => " LIMIT 10000",
            Self::All => "",
        }
    }
}

/// Problem of a view: something that the API cannot serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewProblem {
    /// The view, such as `catalogue_courses`.
    pub view: &'static str,
    /// Key of the row, such as `acc_1, rust-basics`; `None` for a problem of the view or of one of its columns.
    pub key: Option<String>,
    /// Description of the problem.
    pub problem: String,
    /// Description of what is expected instead.
    pub expected: String,
}

impl fmt::Display for ViewProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { key: Some(key), .. } => {
                write!(f, "{} ({key}): {}; expected: {}", self.view, self.problem, self.expected)
            }
            Self { key: None, .. } => write!(f, "{}: {}; {}", self.view, self.problem, self.expected),
        }
    }
}

impl Error for ViewProblem {}

impl ViewProblem {
    /// Returns the problems as one line.
    #[must_use]
    pub fn line(problems: &[Self]) -> String {
        problems.iter().map(Self::to_string).collect::<Vec<_>>().join(". ")
    }
}

/// Advice about something that works, but could be better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewAdvice {
    /// Subject, such as `the first page`.
    pub subject: String,
    /// Description of the finding.
    pub finding: String,
    /// Remedy, such as a `CREATE INDEX` statement, if one is known. Names in angle brackets are placeholders.
    pub fix: Option<String>,
}

impl ViewAdvice {
    /// Returns the advice for a view of courses without `module_count`.
    #[must_use]
    pub fn module_count() -> Self {
        Self {
            subject: "catalogue_courses".to_owned(),
            finding: "it has no `module_count`, so the modules of each listed course must be counted".to_owned(),
            fix: Some("add the column, at best a number that your program maintains".to_owned()),
        }
    }
}

//! [`CourseViews`]: what is looked at where courses are read from another program's tables.

use std::fmt;

use async_trait::async_trait;

use super::StorageError;

/// Looks at the views that courses are read from, where the tables behind them belong to another program.
///
/// The request path does not use it: it is for command lines and the start of a server.
#[async_trait]
pub trait CourseViews: fmt::Debug + Send + Sync {
    /// What the API could not serve: views and columns that are missing or of a type that cannot be read, and rows that
    /// break the contract of [`CourseStorage`](super::CourseStorage). Faults of one kind and view may be cut at a hundred.
    ///
    /// # Errors
    /// When the database cannot be asked.
    async fn check_views(&self, rows: CheckedRows) -> Result<Vec<ViewFault>, StorageError>;

    /// What the API serves, and an index of the team's own does not: times that are text in several forms, which are not in
    /// order as texts.
    ///
    /// # Errors
    /// When the database cannot be asked.
    async fn check_forms(&self, rows: CheckedRows) -> Result<Vec<ViewAdvice>, StorageError> {
        let _ = rows;
        Ok(Vec::new())
    }

    /// Reasons why the storage does not rely on `catalogue_revisions`, such as a table without its triggers. Responses are
    /// right all the same, and cached for a shorter time or not at all.
    ///
    /// # Errors
    /// When the database cannot be asked.
    async fn check_revisions(&self) -> Result<Vec<ViewAdvice>, StorageError> {
        Ok(Vec::new())
    }

    /// What makes requests slower than they need to be: a plan that sorts, or reads more rows than it shows, for the
    /// largest account that a bounded look finds; a cast that keeps an index from being used.
    ///
    /// # Errors
    /// When the database cannot be asked.
    async fn check_plans(&self) -> Result<Vec<ViewAdvice>, StorageError>;

    /// What the role may do beyond reading the views and owning the tables of ours.
    ///
    /// # Errors
    /// When the database cannot be asked.
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

/// One thing that works, and could be better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewAdvice {
    /// What it is about, such as `the first page`.
    pub about: String,
    /// What is seen.
    pub what: String,
    /// The statement that makes it better, such as a `CREATE INDEX`, where one is known.
    pub remedy: Option<String>,
}

//! Courses in views over the host application's tables; credentials, events, sign-ins, revocations in the catalogue's tables.
//!
//! - The catalogue's tables are in a dedicated schema, the only one in the session's search path. So statements that need only
//!   these tables stay the same. `migrations/0001_views.sql` creates the tables, without accounts, courses and foreign keys.
//! - Statements that need an account or a course name the views with their schema. [`Statements`] builds them at opening, from
//!   the names and types that [`Columns`] finds, instead of the constants for the catalogue's own tables.
//! - A statement orders by the column `created_at` itself and by the slug's bytes, so that an index of the base table can be
//!   used. Times are read as the eight bytes of their type, exact in any session time zone.
//! - Each row is checked as it is read ([`rows`]), for requests and for `check_views` alike. Null and infinite times sort first
//!   or last, so a page contains and reports them.
//! - Revisions are returned only while triggers maintain `catalogue_revisions`, which is checked every ten seconds
//!   ([`freshness`]).
//! - Plans are checked with the database's own `EXPLAIN` ([`plans`]).

mod check;
mod columns;
mod freshness;
mod plans;
mod read;
mod rights;
mod rows;
mod statements;

use std::fmt;
use std::sync::Arc;

use catalogue_core::admin::Account;
use catalogue_core::storage::{CheckedRows, CourseViews, StorageError, ViewAdvice, ViewProblem};
use catalogue_core::{AccountId, async_trait};

use crate::accounts;
use crate::connection::Connection;
use crate::connections::readers::Readers;
use crate::open_error::OpenError;
use crate::options::Options;
use crate::rows::account;
use columns::Columns;
use freshness::{Freshness, Generation};
pub(crate) use statements::{CREDENTIAL_OWNERS, Statement, Statements};

/// The views of one storage, as they were when it was opened.
pub(crate) struct Views {
    options: Arc<Options>,
    schema: String,
    columns: Columns,
    pub(crate) statements: Statements,
    /// `None` without `catalogue_revisions`.
    freshness: Option<Freshness>,
}

impl Views {
    /// Opens the views of the options; `None` if courses are in the catalogue's own tables.
    pub(crate) async fn open(options: &Arc<Options>) -> Result<Option<Arc<Self>>, OpenError> {
        let Some(schema) = options.courses.views.clone() else { return Ok(None) };
        let connection = options.exporting().open().await?;
        let (columns, problems) = Columns::read(&connection, &schema).await?;
        if !problems.is_empty() {
            return Err(OpenError::Views(problems));
        }
        let statements = Statements::new(&schema, &columns);
        let freshness = match columns.has_revisions() {
            true => Some(Freshness::begin(&connection, &schema).await?),
            false => None,
        };
        Ok(Some(Arc::new(Self { options: Arc::clone(options), schema, columns, statements, freshness })))
    }

    /// Returns the generation for a read that begins now, or `None` if its response must not be cached.
    async fn generation(&self, readers: &Readers) -> Option<Generation> {
        self.freshness.as_ref()?.generation(readers).await
    }

    async fn connection(&self) -> Result<Connection, StorageError> {
        self.options.exporting().without_names().open().await
    }
}

#[async_trait]
impl CourseViews for Views {
    async fn find_account(&self, id: &AccountId) -> Result<Option<Account>, StorageError> {
        let find = self.statements.find_account.sql();
        let row = accounts::find(&self.connection().await?, id, &find).await?;
        row.as_ref().map(account).transpose()
    }

    async fn check_views(&self, rows: CheckedRows) -> Result<Vec<ViewProblem>, StorageError> {
        check::check(self, rows).await
    }

    async fn check_columns(&self) -> Result<Vec<ViewAdvice>, StorageError> {
        Ok(if self.columns.has_module_count() { Vec::new() } else { vec![ViewAdvice::module_count()] })
    }

    async fn check_revisions(&self) -> Result<Vec<ViewAdvice>, StorageError> {
        match self.freshness {
            Some(_) => freshness::check(&self.connection().await?, &self.schema).await,
            None => Ok(Vec::new()),
        }
    }

    async fn check_plans(&self) -> Result<Vec<ViewAdvice>, StorageError> {
        plans::check(self).await
    }

    async fn check_rights(&self) -> Result<Vec<ViewAdvice>, StorageError> {
        rights::check(self).await
    }
}

impl fmt::Debug for Views {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Views").field("schema", &self.schema).finish_non_exhaustive()
    }
}

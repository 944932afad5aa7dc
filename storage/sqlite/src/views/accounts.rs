//! Accounts, from the views or from the catalogue's own tables.

use catalogue_core::admin::{Account, AccountSummary, Accounts, Visitor};
use catalogue_core::storage::views::{ACCOUNTS, Column};
use catalogue_core::storage::{CourseViews, StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};

use rusqlite::Row;

use super::ViewedCourses;
use super::row::{invalid_row, view_row};
use super::statements::{ALL_ACCOUNTS, COUNT_COURSES};
use crate::accounts;
use crate::credentials::{count_keys, unknown_account};
use crate::error::storage_error;
use crate::readers::ADMINISTRATION_WAIT;
use crate::rows::count;
use crate::storage::SqliteStorage;

impl SqliteStorage {
    /// Returns the checks of the views with the courses; `None` if courses are in the catalogue's own tables.
    #[must_use]
    pub fn views(&self) -> Option<&dyn CourseViews> {
        self.views.as_deref().map(|views| views as &dyn CourseViews)
    }

    /// Returns the account `id`; without an email if accounts are in views, which may have names.
    pub(crate) fn find_account(&self, id: &AccountId) -> Result<Option<Account>, StorageError> {
        match &self.views {
            Some(views) => views.find_account(id),
            None => self.readers.read_within(ADMINISTRATION_WAIT, |connection| accounts::find(connection, id)),
        }
    }

    /// Fails if the account does not exist.
    pub(crate) fn check_account(&self, id: &AccountId) -> Result<(), StorageError> {
        self.find_account(id)?.map(drop).ok_or_else(|| unknown_account(id))
    }

    /// Fails if accounts and courses are another program's; `participle` is what was to be done with them, such as "exported".
    pub(crate) fn require_own_courses(&self, participle: &str) -> Result<(), StorageError> {
        if self.views.is_none() {
            return Ok(());
        }
        let message =
            format!("accounts and courses belong to another program, so they cannot be {participle}; use that program");
        Err(StorageError::new(StorageErrorKind::Unsupported, message))
    }

    pub(crate) fn list_viewed_accounts(
        &self,
        views: &ViewedCourses,
        accounts: Accounts<'_>,
        now: Timestamp,
        visit: &mut Visitor<'_, AccountSummary>,
    ) -> Result<(), StorageError> {
        let (host, own) = (views.readers.database().open_exporter()?, self.readers.database().open_exporter()?);
        let [host, own] = [host.unchecked_transaction(), own.unchecked_transaction()];
        let (host, own) = (host.map_err(storage_error)?, own.map_err(storage_error)?);
        let summary = |row: &Row<'_>| {
            let id = view_row(ACCOUNTS, row, &[0]).id(Column(0, "id")).map_err(invalid_row)?;
            let courses = host.prepare_cached(COUNT_COURSES)?.query_row([&*id], |row| count(row, 0))?;
            let keys = count_keys(&own, &id, now)?;
            let account = Account { id: AccountId::new(id), name: String::new(), email: String::new() };
            Ok(AccountSummary { account, courses, keys })
        };
        let sql = [ALL_ACCOUNTS, views.statements.find_account];
        accounts::visit_rows(&host, sql, &[], &accounts, summary, visit).map(drop).map_err(storage_error)
    }
}

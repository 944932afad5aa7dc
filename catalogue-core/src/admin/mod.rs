//! [`AdminStorage`]: what the command line and the suites need beyond reading. Embedders do not need it.
//!
//! The records here can be built and taken apart field by field: a further field is a breaking change, because a
//! storage or an export that overlooked it would lose data.

mod account;
mod credential;

use std::ops::ControlFlow;

use async_trait::async_trait;

pub use account::{Account, AccountSummary, Accounts, RemovedAccount};
pub use credential::{CredentialRecord, CredentialState, CredentialUse, NewCredential};

use crate::course::Course;
use crate::model::AccountId;
use crate::storage::{KeyStorage, StorageError, StorageStatus};
use crate::timestamp::Timestamp;

/// One record of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// An account.
    Account(Account),
    /// A course.
    Course(Course),
}

/// Takes what a call reads, such as the records of an export, one at a time; [`ControlFlow::Break`] ends the call
/// early.
pub type Visitor<'v, T = Record> = dyn FnMut(T) -> ControlFlow<()> + Send + 'v;

/// What an import did with one account or course.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// It was not there before.
    Added,
    /// It was there with other content.
    Changed,
    /// It was there with the same content, and was left alone.
    Unchanged,
    /// This import has put it already; nothing was done.
    Repeated,
}

/// Writes accounts and courses, and by [`KeyStorage`] credentials.
///
/// `Ok` of a call that writes means that the change is committed: it outlives this process, and a crash of the machine
/// where the database is set up so. An error means that nothing has changed, unless its kind is
/// [`OutcomeUnknown`](crate::storage::StorageErrorKind::OutcomeUnknown): then the change may have been made or not.
///
/// Calls may block the thread for as long as the database works: they are meant for a command line, not for a request.
///
/// Without `#[async_trait]` above an `impl` the compiler says E0195, as for
/// [`CourseStorage`](crate::storage::CourseStorage).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be administered: it does not implement `AdminStorage`",
    label = "no `AdminStorage`",
    note = "implement it with `#[catalogue_core::async_trait]` above the `impl`; a catalogue that only answers requests needs none"
)]
#[async_trait]
pub trait AdminStorage: KeyStorage {
    /// Begins an import: all of it, or nothing.
    ///
    /// Of two imports at the same time, a storage may let one wait or refuse it, here or at any later call.
    ///
    /// # Errors
    /// When the storage cannot be written now, for instance because another import runs.
    async fn begin_import(&self) -> Result<Box<dyn Import>, StorageError>;

    /// Hands the accounts to `visit` by id, then their courses by account and slug (compared by bytes), all of one
    /// state of the data.
    ///
    /// # Errors
    /// When the storage cannot be read.
    async fn export(&self, accounts: Accounts<'_>, visit: &mut Visitor<'_>) -> Result<(), StorageError>;

    /// Hands the accounts to `visit` by id (compared by bytes), with the number of their courses and of their keys that
    /// hold at `now`, all of one state of the data.
    ///
    /// # Errors
    /// When the storage cannot be read.
    async fn list_accounts(
        &self,
        accounts: Accounts<'_>,
        now: Timestamp,
        visit: &mut Visitor<'_, AccountSummary>,
    ) -> Result<(), StorageError>;

    /// Removes the account with that id, its courses and its credentials, and says what was removed; or `None` when
    /// there is none. It is gone from the next request on. A later account with the same id has none of its revisions.
    ///
    /// # Errors
    /// When the storage cannot be written now.
    async fn remove_account(&self, account: &AccountId) -> Result<Option<RemovedAccount>, StorageError>;

    /// Removes one course with its modules; says whether it was there.
    ///
    /// # Errors
    /// When the storage cannot be written now.
    async fn remove_course(&self, account: &AccountId, slug: &str) -> Result<bool, StorageError>;

    /// Hands the credentials of those accounts to `visit`: by account (compared by bytes), those of one account in the
    /// order of [`list_keys`](KeyStorage::list_keys), all of one state of the data.
    ///
    /// # Errors
    /// When the storage cannot be read.
    async fn visit_credentials(
        &self,
        accounts: Accounts<'_>,
        visit: &mut Visitor<'_, CredentialRecord>,
    ) -> Result<(), StorageError>;

    /// The credential with that id, or `None` when there is none.
    ///
    /// # Errors
    /// When the storage cannot be read.
    async fn find_credential_record(&self, id: &str) -> Result<Option<CredentialRecord>, StorageError>;

    /// Records when credentials were used, all uses or none. Of each credential the latest time is kept, from this call
    /// or an earlier one. A use of what is no credential of the account is skipped.
    ///
    /// It changes nothing that a request reads, so every account keeps its revision. It does not create a storage that
    /// is missing.
    ///
    /// # Errors
    /// When the storage cannot be written now.
    async fn note_uses(&self, uses: &[CredentialUse]) -> Result<(), StorageError>;

    /// The state of the storage's servers and of the connections to them: whether the primary answers, which is asked
    /// now, and how far its replicas lag. `None` where there is no server, as by default.
    async fn status(&self) -> Option<StorageStatus> {
        None
    }
}

/// An import in progress. Nothing of it is visible before [`commit`](Self::commit); dropping it undoes it.
///
/// Without `#[async_trait]` above an `impl` the compiler says E0195, as for
/// [`CourseStorage`](crate::storage::CourseStorage).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no import: it does not implement `Import`",
    label = "no `Import`",
    note = "implement it with `#[catalogue_core::async_trait]` above the `impl`"
)]
#[async_trait]
pub trait Import: Send {
    /// Adds an account or replaces its name and email.
    ///
    /// # Errors
    /// When the storage cannot be written.
    async fn put_account(&mut self, account: &Account) -> Result<Change, StorageError>;

    /// When the course with that slug was created, or `None` when there is none.
    ///
    /// # Errors
    /// When the storage cannot be read.
    async fn creation_time(&mut self, account: &AccountId, slug: &str) -> Result<Option<Timestamp>, StorageError>;

    /// Adds a course or replaces it, modules included.
    ///
    /// # Errors
    /// [`UnknownReference`](crate::storage::StorageErrorKind::UnknownReference) when its account does not exist,
    /// [`InvalidValue`](crate::storage::StorageErrorKind::InvalidValue) when its slug is not valid (see
    /// [`is_slug`](crate::is_slug)), or when the storage cannot be written.
    async fn put_course(&mut self, course: &Course) -> Result<Change, StorageError>;

    /// Removes every course that this import has not put, of the accounts that it has put; returns account and slug of
    /// each, in any order. It comes last, before [`commit`](Self::commit).
    ///
    /// # Errors
    /// When the storage cannot be written.
    async fn prune(&mut self) -> Result<Vec<(AccountId, String)>, StorageError>;

    /// Makes the whole import visible at once.
    ///
    /// # Errors
    /// When the storage cannot be written. As for every call of [`AdminStorage`], nothing has changed then unless the kind
    /// is [`OutcomeUnknown`](crate::storage::StorageErrorKind::OutcomeUnknown).
    async fn commit(self: Box<Self>) -> Result<(), StorageError>;
}

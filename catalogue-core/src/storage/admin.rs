//! [`AdminStorage`]: administration of a storage, beyond what the API and the developer settings need.

use std::ops::ControlFlow;

use async_trait::async_trait;
use auto_impl::auto_impl;

use super::{KeyStorage, StorageError, StorageErrorKind, StorageStatus};
use crate::model::{
    Account, AccountId, AccountSummary, Accounts, Course, CredentialRecord, CredentialUse, RemovedAccount, TokenDigest,
};
use crate::timestamp::Timestamp;

/// One record of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// An account.
    Account(Account),
    /// A course.
    Course(Course),
}

/// Callback for what a call reads, such as the records of an export, one at a time; [`ControlFlow::Break`] ends the
/// call early.
pub type Visitor<'v, T = Record> = dyn FnMut(T) -> ControlFlow<()> + Send + 'v;

/// Effect of an import on one account or course.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// The record did not exist before.
    Added,
    /// The record existed with other content.
    Changed,
    /// The record existed with the same content, and was not written.
    Unchanged,
    /// This import has put it already; nothing was done.
    Repeated,
}

/// Storage of accounts and courses, and through [`KeyStorage`] of credentials.
///
/// `Ok` from a call that writes means that the change is committed: it survives this process, and a crash of the
/// machine if the database is configured for that. An error means that nothing has changed, unless its kind is
/// [`OutcomeUnknown`](crate::storage::StorageErrorKind::OutcomeUnknown): then the change may have been made or not.
/// Each call fails if the storage cannot be read or written now; a call that can fail for other reasons documents them.
///
/// Calls may block the thread for as long as the database works: they are for command lines, not for requests.
#[async_trait]
#[auto_impl(Arc, Box)]
pub trait AdminStorage: KeyStorage {
    /// Begins an import, which is committed as a whole or not at all.
    ///
    /// If two imports run concurrently, a storage may let one wait or refuse it, here or in any later call.
    ///
    /// # Errors
    /// Returns an error if the storage cannot be written now, for instance because another import runs.
    async fn begin_import(&self) -> Result<Box<dyn Import>, StorageError>;

    /// Passes the accounts to `visit` by id, then their courses by account and slug (compared by bytes), all from one
    /// snapshot of the data.
    async fn export(&self, accounts: Accounts<'_>, visit: &mut Visitor<'_>) -> Result<(), StorageError>;

    /// Passes the accounts to `visit` by id (compared by bytes), with the numbers of their courses and of their keys that
    /// are valid at `now`. All data is from one snapshot.
    async fn list_accounts(
        &self,
        accounts: Accounts<'_>,
        now: Timestamp,
        visit: &mut Visitor<'_, AccountSummary>,
    ) -> Result<(), StorageError>;

    /// Removes `account` with its courses, credentials, sign-ins and events, and returns what was removed; `None` if it does
    /// not exist. Applies from the next request on. A later account with the same id has none of its revisions.
    async fn remove_account(&self, account: &AccountId) -> Result<Option<RemovedAccount>, StorageError>;

    /// Removes a course with its modules. Returns whether it existed.
    async fn remove_course(&self, account: &AccountId, slug: &str) -> Result<bool, StorageError>;

    /// Passes the credentials of `accounts` to `visit`: by account (compared by bytes), within an account in the order of
    /// [`list_keys`](KeyStorage::list_keys), all from one snapshot of the data.
    async fn visit_credentials(
        &self,
        accounts: Accounts<'_>,
        visit: &mut Visitor<'_, CredentialRecord>,
    ) -> Result<(), StorageError>;

    /// Returns the credential `id`, or `None` if it does not exist.
    async fn find_credential_record(&self, id: &str) -> Result<Option<CredentialRecord>, StorageError>;

    /// Records when credentials were used, all uses or none. Keeps the latest time of each credential, from this call or
    /// an earlier one. Skips a use if the account does not have the credential.
    ///
    /// Changes nothing that a request reads, so every account keeps its revision. Does not create a storage that is
    /// missing.
    async fn record_uses(&self, uses: &[CredentialUse]) -> Result<(), StorageError>;

    /// Revokes the signed tokens with `digests`, which expire at `expires_at`: from the next request on,
    /// [`is_revoked`](crate::storage::CredentialStorage::is_revoked) returns `Some(true)` for them (decision O29). A
    /// token that is revoked already stays unchanged.
    ///
    /// A revocation belongs to no account and is not removed with one. It is kept for a day after the expiry, as clocks
    /// differ. Each call removes some that ended a day or more before `at`, more than it adds, to bound their number.
    ///
    /// # Errors
    /// Returns an error if the storage holds no revocations, as by default, or cannot be written now.
    async fn revoke_tokens(
        &self,
        digests: &[TokenDigest],
        expires_at: Timestamp,
        at: Timestamp,
    ) -> Result<(), StorageError> {
        let _ = (digests, expires_at, at);
        Err(StorageError::new(StorageErrorKind::Other, "this storage cannot store revocations of signed tokens"))
    }

    /// Returns the state of the storage's servers and of the connections to them: whether the primary responds, which is
    /// checked now, and how far its replicas lag. `None` without servers, as by default.
    async fn status(&self) -> Option<StorageStatus> {
        None
    }
}

/// An import in progress. Nothing of it is visible before [`commit`](Self::commit); dropping it undoes it. Its calls fail
/// like those of [`AdminStorage`].
#[async_trait]
pub trait Import: Send {
    /// Adds an account or replaces its name and email.
    async fn put_account(&mut self, account: &Account) -> Result<Change, StorageError>;

    /// Returns when the course `slug` was created, or `None` if it does not exist.
    async fn creation_time(&mut self, account: &AccountId, slug: &str) -> Result<Option<Timestamp>, StorageError>;

    /// Adds a course or replaces it, modules included.
    ///
    /// # Errors
    /// Returns [`UnknownReference`](crate::storage::StorageErrorKind::UnknownReference) if its account does not exist,
    /// [`InvalidValue`](crate::storage::StorageErrorKind::InvalidValue) if its slug is not valid (see
    /// [`is_slug`](crate::is_slug)), or another error if the storage cannot be written.
    async fn put_course(&mut self, course: &Course) -> Result<Change, StorageError>;

    /// Returns the [`creation_time`](Self::creation_time) of each of `courses`. The default implementation looks them
    /// up one after the other; network storages should override it with one batched query.
    async fn creation_times(&mut self, courses: &[(AccountId, &str)]) -> Result<Vec<Option<Timestamp>>, StorageError> {
        let mut times = Vec::with_capacity(courses.len());
        for (account, slug) in courses {
            times.push(self.creation_time(account, slug).await?);
        }
        Ok(times)
    }

    /// Puts records like [`put_account`](Self::put_account) and [`put_course`](Self::put_course), one after the
    /// other. Returns for each, in order, what was done, or why it was refused: [`UnknownReference`] or
    /// [`InvalidValue`]. Network storages should override the default implementation and put all of them with one
    /// call. The caller decides how many records are in memory at the same time.
    ///
    /// # Errors
    /// Returns an error if the storage cannot be written. The records' outcome is then unknown: drop the import.
    ///
    /// [`UnknownReference`]: crate::storage::StorageErrorKind::UnknownReference
    /// [`InvalidValue`]: crate::storage::StorageErrorKind::InvalidValue
    async fn put_all(&mut self, records: &[Record]) -> Result<Vec<Result<Change, StorageError>>, StorageError> {
        const REFUSALS: [StorageErrorKind; 2] = [StorageErrorKind::UnknownReference, StorageErrorKind::InvalidValue];
        let mut outcomes = Vec::with_capacity(records.len());
        for record in records {
            let outcome = match record {
                Record::Account(account) => self.put_account(account).await,
                Record::Course(course) => self.put_course(course).await,
            };
            match outcome {
                Err(error) if !REFUSALS.contains(&error.kind()) => return Err(error),
                outcome => outcomes.push(outcome),
            }
        }
        Ok(outcomes)
    }

    /// Removes the courses that this import has not put from the accounts that it has put. Returns account and slug of each
    /// removed course, in any order. This is the last call before [`commit`](Self::commit).
    async fn prune(&mut self) -> Result<Vec<(AccountId, String)>, StorageError>;

    /// Makes the whole import visible atomically.
    ///
    /// # Errors
    /// Returns an error if the storage cannot be written. As for every call of [`AdminStorage`], nothing has changed then,
    /// unless the kind is [`OutcomeUnknown`](crate::storage::StorageErrorKind::OutcomeUnknown).
    async fn commit(self: Box<Self>) -> Result<(), StorageError>;
}

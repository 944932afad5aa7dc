//! [`AdminStorage`]: administration of a storage, beyond what the API and the developer settings ask.

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
/// [`OutcomeUnknown`](crate::storage::StorageErrorKind::OutcomeUnknown): then the change may have been made or not. Each call
/// fails when the storage cannot be read or written now; a call that fails for other reasons too names them.
///
/// Calls may block the thread for as long as the database works: they are meant for a command line, not for a request.
#[async_trait]
#[auto_impl(Arc, Box)]
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
    async fn export(&self, accounts: Accounts<'_>, visit: &mut Visitor<'_>) -> Result<(), StorageError>;

    /// Hands the accounts to `visit` by id (compared by bytes), with the number of their courses and of their keys that
    /// hold at `now`, all of one state of the data.
    async fn list_accounts(
        &self,
        accounts: Accounts<'_>,
        now: Timestamp,
        visit: &mut Visitor<'_, AccountSummary>,
    ) -> Result<(), StorageError>;

    /// Removes the account with that id, its courses and its credentials, and says what was removed; or `None` when
    /// there is none. It is gone from the next request on. A later account with the same id has none of its revisions.
    async fn remove_account(&self, account: &AccountId) -> Result<Option<RemovedAccount>, StorageError>;

    /// Removes one course with its modules; says whether it was there.
    async fn remove_course(&self, account: &AccountId, slug: &str) -> Result<bool, StorageError>;

    /// Hands the credentials of those accounts to `visit`: by account (compared by bytes), those of one account in the
    /// order of [`list_keys`](KeyStorage::list_keys), all of one state of the data.
    async fn visit_credentials(
        &self,
        accounts: Accounts<'_>,
        visit: &mut Visitor<'_, CredentialRecord>,
    ) -> Result<(), StorageError>;

    /// The credential with that id, or `None` when there is none.
    async fn find_credential_record(&self, id: &str) -> Result<Option<CredentialRecord>, StorageError>;

    /// Records when credentials were used, all uses or none. Of each credential the latest time is kept, from this call
    /// or an earlier one. A use of what is no credential of the account is skipped.
    ///
    /// It changes nothing that a request reads, so every account keeps its revision. It does not create a storage that
    /// is missing.
    async fn note_uses(&self, uses: &[CredentialUse]) -> Result<(), StorageError>;

    /// Revokes the signed tokens with those digests, which expire at `expires_at`: from the next request on,
    /// [`is_revoked`](crate::storage::CredentialStorage::is_revoked) says so (decision O29). What is revoked already stays as
    /// it is.
    ///
    /// A revocation names no account and goes with none. It stays for a day after the expiry, as clocks differ. Each call
    /// removes some that ended a day or more before `at`, more than it adds, so that their number is bounded.
    ///
    /// # Errors
    /// When the storage keeps no revocations, as by default, or cannot be written now.
    async fn revoke_tokens(
        &self,
        digests: &[TokenDigest],
        expires_at: Timestamp,
        at: Timestamp,
    ) -> Result<(), StorageError> {
        let _ = (digests, expires_at, at);
        Err(StorageError::new(StorageErrorKind::Other, "this storage keeps no revocations of signed tokens"))
    }

    /// The state of the storage's servers and of the connections to them: whether the primary answers, which is asked
    /// now, and how far its replicas lag. `None` where there is no server, as by default.
    async fn status(&self) -> Option<StorageStatus> {
        None
    }
}

/// An import in progress. Nothing of it is visible before [`commit`](Self::commit); dropping it undoes it. Its calls fail as
/// those of [`AdminStorage`] do.
#[async_trait]
pub trait Import: Send {
    /// Adds an account or replaces its name and email.
    async fn put_account(&mut self, account: &Account) -> Result<Change, StorageError>;

    /// When the course with that slug was created, or `None` when there is none.
    async fn creation_time(&mut self, account: &AccountId, slug: &str) -> Result<Option<Timestamp>, StorageError>;

    /// Adds a course or replaces it, modules included.
    ///
    /// # Errors
    /// [`UnknownReference`](crate::storage::StorageErrorKind::UnknownReference) when its account does not exist,
    /// [`InvalidValue`](crate::storage::StorageErrorKind::InvalidValue) when its slug is not valid (see
    /// [`is_slug`](crate::is_slug)), or when the storage cannot be written.
    async fn put_course(&mut self, course: &Course) -> Result<Change, StorageError>;

    /// When each of those courses was created, as [`creation_time`](Self::creation_time) says of one after the other. That is
    /// what it does by default; a storage that is asked over a network asks for all of them at once.
    async fn creation_times(&mut self, courses: &[(AccountId, &str)]) -> Result<Vec<Option<Timestamp>>, StorageError> {
        let mut times = Vec::with_capacity(courses.len());
        for (account, slug) in courses {
            times.push(self.creation_time(account, slug).await?);
        }
        Ok(times)
    }

    /// Puts records as [`put_account`](Self::put_account) and [`put_course`](Self::put_course) do one after the other, and
    /// says of each in their order what was done, or why it was refused: [`UnknownReference`] or [`InvalidValue`]. That is
    /// what it does by default; a storage that is asked over a network puts all of them at once. Whoever calls it says how
    /// many are in memory at the same time.
    ///
    /// # Errors
    /// When the storage cannot be written. Nothing is known of the records then, and the import can only be dropped.
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

    /// Removes every course that this import has not put, of the accounts that it has put; returns account and slug of
    /// each, in any order. It comes last, before [`commit`](Self::commit).
    async fn prune(&mut self) -> Result<Vec<(AccountId, String)>, StorageError>;

    /// Makes the whole import visible at once.
    ///
    /// # Errors
    /// When the storage cannot be written. As for every call of [`AdminStorage`], nothing has changed then unless the kind
    /// is [`OutcomeUnknown`](crate::storage::StorageErrorKind::OutcomeUnknown).
    async fn commit(self: Box<Self>) -> Result<(), StorageError>;
}

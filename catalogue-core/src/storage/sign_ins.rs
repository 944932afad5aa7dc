//! [`SignInStorage`]: sign-in links and sessions of the developer settings.

use std::fmt;

use async_trait::async_trait;
use auto_impl::auto_impl;

use super::{Actor, StorageError};
use crate::model::{Account, AccountId, TokenDigest};
use crate::timestamp::Timestamp;

/// How many sessions an account has at most; beyond that the oldest is removed.
pub const MAX_SESSIONS: usize = 10;

/// Keeps sign-in links and sessions, as digests alone.
///
/// # Contract
/// - A change and its event ([`CredentialEvent`](super::CredentialEvent)) are committed together, or neither is. What
///   changes nothing writes no event.
/// - Each call fails when the storage cannot be read or written now; a call that fails for other reasons too names them.
/// - A link is exchanged once, also by concurrent calls.
/// - An end holds for each look-up that begins after it was answered.
/// - Links and sessions are removed with their account. If another program keeps the accounts, those of an account that is gone
///   are removed when one of them is looked up or exchanged: a later account with its id has none of them.
/// - A code that is unknown or has ended costs a read and no write, because anybody can send one.
/// - A call blocks its thread no longer than a look-up does.
#[async_trait]
#[auto_impl(Arc, Box)]
pub trait SignInStorage: fmt::Debug + Send + Sync + 'static {
    /// Stores a link. It removes the account's links and sessions that are over at its creation, and some of other accounts
    /// that ended a day before. It also removes the account's events of no key that are older by
    /// [`RETENTION`](super::RETENTION), the oldest [`MAX_REMOVED`](super::MAX_REMOVED).
    ///
    /// # Errors
    /// [`UnknownReference`](super::StorageErrorKind::UnknownReference) when its account does not exist,
    /// [`AlreadyThere`](super::StorageErrorKind::AlreadyThere) when there is such a link, or when the storage cannot be
    /// written now.
    async fn create_link(&self, link: &NewSignIn, by: &Actor) -> Result<(), StorageError>;

    /// Takes the link with that digest, stores `session` for its account, and returns the account. `None` when there is
    /// no such link, or it has ended by `now`. Of more than [`MAX_SESSIONS`] sessions of the account the oldest are
    /// removed.
    async fn exchange_link(
        &self,
        link: &TokenDigest,
        now: Timestamp,
        session: &NewSession,
    ) -> Result<Option<Account>, StorageError>;

    /// The session with that digest, over or not, or `None` when there is none or it was ended.
    async fn find_session(&self, digest: &TokenDigest) -> Result<Option<Session>, StorageError>;

    /// Ends the session with that digest, if there is one.
    async fn end_session(&self, digest: &TokenDigest) -> Result<(), StorageError>;

    /// Ends all links and sessions of `account`, and says how many there were.
    async fn end_sign_ins(&self, account: &AccountId, by: &Actor) -> Result<u64, StorageError>;
}

/// A sign-in link to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSignIn {
    /// The digest of the link's code.
    pub digest: TokenDigest,
    /// Whom it signs in.
    pub account: AccountId,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it is refused.
    pub expires_at: Timestamp,
}

/// A session to be stored, of the account whose link is exchanged for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSession {
    /// The digest of the session's secret.
    pub digest: TokenDigest,
    /// When it begins.
    pub created_at: Timestamp,
    /// From when on it is refused.
    pub expires_at: Timestamp,
}

/// A session as it is looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Whose it is.
    pub account: Account,
    /// From when on it is refused.
    pub expires_at: Timestamp,
}

impl Session {
    /// Whether it is over at `now`.
    #[must_use]
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.expires_at <= now
    }
}

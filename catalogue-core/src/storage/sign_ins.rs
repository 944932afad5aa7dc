//! [`SignInStorage`]: sign-in links and sessions of the developer settings.

use std::fmt;

use async_trait::async_trait;
use auto_impl::auto_impl;

use super::{Actor, StorageError};
use crate::model::{Account, AccountId, TokenDigest};
use crate::timestamp::Timestamp;

/// Maximum number of sessions of an account; beyond it, the oldest is removed.
pub const MAX_SESSIONS: usize = 10;

/// Storage of sign-in links and sessions, as digests only.
///
/// # Contract
/// - A change and its event ([`CredentialEvent`](super::CredentialEvent)) are committed together, or neither is. A call
///   that changes nothing writes no event.
/// - Each call fails if the storage cannot be read or written now; a call that can fail for other reasons documents them.
/// - A link can be exchanged only once, even by concurrent calls.
/// - The end of a link or session applies to each lookup that begins after the call has returned.
/// - Links and sessions are removed with their account. If another program manages the accounts, a removed account's links
///   and sessions are removed when one is looked up or exchanged: a later account with the same id has none of them.
/// - An unknown or ended link or session costs a read and no write, because anyone can try codes.
/// - A call does not block its thread for longer than a lookup does.
#[async_trait]
#[auto_impl(Arc, Box)]
pub trait SignInStorage: fmt::Debug + Send + Sync + 'static {
    /// Stores a link. Also removes the account's links and sessions that have expired at its creation, and some of other
    /// accounts that expired a day earlier. From the account's events without a key, removes the oldest that are past
    /// [`RETENTION`](super::RETENTION), at most [`MAX_REMOVED`](super::MAX_REMOVED).
    /// Signature: `async fn create_link(&self, link: &NewSignIn, by: &Actor) -> Result<(), StorageError>`
    ///
    /// # Errors
    /// Returns [`UnknownReference`](super::StorageErrorKind::UnknownReference) if its account does not exist,
    /// [`AlreadyExists`](super::StorageErrorKind::AlreadyExists) if the link exists already, or another error if the storage
    /// cannot be written now.
    async fn create_link(&self, link: &NewSignIn, by: &Actor) -> Result<(), StorageError>;

    /// Removes the link with the digest `link`, stores `session` for its account, and returns the account. `None` if the
    /// link does not exist or has expired at `now`. If the account then has more than [`MAX_SESSIONS`] sessions, the oldest
    /// are removed. Signature: `async fn exchange_link(&self, link: &TokenDigest, now: Timestamp, session: &NewSession) ->
    /// Result<Option<Account>, StorageError>`
    async fn exchange_link(
        &self,
        link: &TokenDigest,
        now: Timestamp,
        session: &NewSession,
    ) -> Result<Option<Account>, StorageError>;

    /// Returns the session with `digest`, expired or not, or `None` if it does not exist or was ended.
    /// Signature: `async fn find_session(&self, digest: &TokenDigest) -> Result<Option<Session>, StorageError>`
    async fn find_session(&self, digest: &TokenDigest) -> Result<Option<Session>, StorageError>;

    /// Ends the session with `digest`, if it exists.
    /// Signature: `async fn end_session(&self, digest: &TokenDigest) -> Result<(), StorageError>`
    async fn end_session(&self, digest: &TokenDigest) -> Result<(), StorageError>;

    /// Ends all links and sessions of `account`, and returns their number.
    /// Signature: `async fn end_sign_ins(&self, account: &AccountId, by: &Actor) -> Result<u64, StorageError>`
    async fn end_sign_ins(&self, account: &AccountId, by: &Actor) -> Result<u64, StorageError>;
}

/// A sign-in link to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSignIn {
    /// The digest of the link's code.
    pub digest: TokenDigest,
    /// Account that it signs in.
    pub account: AccountId,
    /// Instant of its creation.
    pub created_at: Timestamp,
    /// Instant from which it is refused.
    pub expires_at: Timestamp,
}

/// A session to be stored, for the account whose link is exchanged for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSession {
    /// The digest of the session's secret.
    pub digest: TokenDigest,
    /// Instant of its creation.
    pub created_at: Timestamp,
    /// Instant from which it is refused.
    pub expires_at: Timestamp,
}

/// A session, as a lookup returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Account that is signed in.
    pub account: Account,
    /// Instant from which it is refused.
    pub expires_at: Timestamp,
}

impl Session {
    /// Returns whether it has expired at `now`.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at <= now
    }
}

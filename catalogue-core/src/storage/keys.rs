//! [`KeyStorage`]: what the developer settings ask of a storage about the keys of one account (section 5.1).

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use auto_impl::auto_impl;
use serde::ser::{Serialize, SerializeStruct as _, Serializer};
use uuid::Uuid;

use super::StorageError;
use crate::model::{AccountId, CredentialRecord, NewCredential};
use crate::timestamp::Timestamp;

/// Duration for which an ended key and its events stay, so that one that leaks later is still recognized, and for which an event
/// of no key stays.
pub const RETENTION: Duration = Duration::from_secs(400 * 24 * 60 * 60);

/// Maximum number of ended keys, or of events of no key, that one call removes.
pub const MAX_REMOVED: usize = 100;

/// Maximum number of events of one key's renames.
pub const MAX_RENAMES: usize = 20;

/// Keeps the keys of accounts, and what was done with them.
///
/// # Contract
/// - Each call names its account. A key of somebody else is answered like one that does not exist.
/// - A change and its event are committed together, or neither is. What changes nothing writes no event: a second
///   revocation, a name that the key has already.
/// - `Ok` means that the change is committed. An error means that nothing has changed, unless its kind is
///   [`OutcomeUnknown`](super::StorageErrorKind::OutcomeUnknown). Each call fails when the storage cannot be read or written now;
///   a call that fails for other reasons too names them.
/// - A change holds for each look-up that begins after it was answered.
/// - A call blocks its thread no longer than a look-up does.
/// - A key ends at its revocation or at its expiry, whichever is earlier. What is read, and the time for it, does not grow with
///   the keys that have ended.
/// - An ended key and its events stay for [`RETENTION`]. A call that creates a key in the account removes those that had ended
///   by then, the earliest [`MAX_REMOVED`], with their events. The time is that of the new key's creation.
/// - Of a key's renames the last [`MAX_RENAMES`] keep their events. All other events of a key stay as long as it.
#[async_trait]
#[auto_impl(Arc, Box)]
pub trait KeyStorage: fmt::Debug + Send + Sync + 'static {
    /// Returns the keys of `account` that have not ended by `now`, and of the others the `ended` that ended last; oldest first,
    /// ties by id, compared by bytes. `None` if there is no such account, also where another program keeps the accounts and keys are
    /// left of one.
    async fn list_keys(
        &self,
        account: &AccountId,
        now: Timestamp,
        ended: usize,
    ) -> Result<Option<Vec<CredentialRecord>>, StorageError>;

    /// Returns the key with that id, whether it has ended or not, or `None` if the account has none.
    async fn find_key(&self, account: &AccountId, id: &str) -> Result<Option<CredentialRecord>, StorageError>;

    /// Stores a key.
    ///
    /// # Errors
    /// [`UnknownReference`](super::StorageErrorKind::UnknownReference) when its account does not exist,
    /// [`AlreadyThere`](super::StorageErrorKind::AlreadyThere) when a key of any account has its digest or its id, or when
    /// the storage cannot be written now.
    async fn create_key(&self, key: &NewCredential, by: &Actor) -> Result<(), StorageError>;

    /// Renames the key with that id and returns it, or `None` when the account has none.
    async fn rename_key(
        &self,
        account: &AccountId,
        id: &str,
        name: &str,
        by: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError>;

    /// Stores `successor`, whose account is `account`, and lets the key with that id expire at `ends_at`, or at the expiry
    /// that it has where that is earlier. Returns the key that is replaced, with the successor's id.
    ///
    /// `None` when the account has no such key, or it no longer holds at the instant of the successor's creation, or
    /// has a successor.
    ///
    /// # Errors
    /// As for [`create_key`](Self::create_key).
    async fn rotate_key(
        &self,
        account: &AccountId,
        id: &str,
        ends_at: Timestamp,
        successor: &NewCredential,
        by: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError>;

    /// Revokes the key with that id and returns it, or `None` when the account has none. The first revocation's time stays.
    async fn revoke_key(
        &self,
        account: &AccountId,
        id: &str,
        at: Timestamp,
        by: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError>;

    /// The account's last events, newest first, `most` of them at most.
    async fn list_events(&self, account: &AccountId, most: usize) -> Result<Vec<CredentialEvent>, StorageError>;
}

/// Who made a change, as the log of changes names them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Actor(Cow<'static, str>);

impl Actor {
    /// The account's owner.
    pub const OWNER: Self = Self(Cow::Borrowed("owner"));
    /// The operator, on the command line.
    pub const OPERATOR: Self = Self(Cow::Borrowed("operator"));

    /// The actor of that text, as a storage kept it.
    pub fn from_stored(text: impl Into<String>) -> Self {
        Self(Cow::Owned(text.into()))
    }

    /// One of several people who own the account together: `owner` and the name.
    #[must_use]
    pub fn owner_named(name: &str) -> Self {
        Self(Cow::Owned(format!("owner {name}")))
    }

    /// The actor's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What was done to a key, or to sign in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CredentialAction {
    /// A key was created.
    KeyCreated,
    /// A key was renamed.
    KeyRenamed,
    /// A key was rotated.
    KeyRotated,
    /// A key was revoked.
    KeyRevoked,
    /// A sign-in link was made.
    LinkMade,
    /// A sign-in link was used.
    SignedIn,
    /// A session was ended, or all links and sessions were.
    SignedOut,
}

impl CredentialAction {
    /// Every action.
    pub const ALL: &'static [Self] = &[
        Self::KeyCreated,
        Self::KeyRenamed,
        Self::KeyRotated,
        Self::KeyRevoked,
        Self::LinkMade,
        Self::SignedIn,
        Self::SignedOut,
    ];

    /// The action's name in storages, logs and answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::KeyCreated => "key_created",
            Self::KeyRenamed => "key_renamed",
            Self::KeyRotated => "key_rotated",
            Self::KeyRevoked => "key_revoked",
            Self::LinkMade => "link_made",
            Self::SignedIn => "signed_in",
            Self::SignedOut => "signed_out",
        }
    }

    /// The action of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }
}

/// One line of an account's log. It is never changed. [`KeyStorage`] says how long it stays.
///
/// As JSON it is an object of `id`, `at`, `action`, `keyId`, `keyName` and `actor`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialEvent {
    /// The account.
    pub account: AccountId,
    /// `evt_` and a UUID of version 7, so that the order of ids is that of time.
    pub id: Arc<str>,
    /// When it was done: the instant that the call names, or else the clock's.
    pub at: Timestamp,
    /// What was done.
    pub action: CredentialAction,
    /// Who did it.
    pub actor: Actor,
    /// The key's id, where it was done to a key.
    pub credential_id: Option<Arc<str>>,
    /// The key's name then; of a renaming, the new one.
    pub name: Option<String>,
}

impl Serialize for CredentialEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { account: _, id, at, action, actor, credential_id, name } = self;
        let mut event = serializer.serialize_struct("CredentialEvent", 6)?;
        event.serialize_field("action", action.name())?;
        event.serialize_field("actor", actor.as_str())?;
        event.serialize_field("at", at)?;
        event.serialize_field("id", &**id)?;
        event.serialize_field("keyId", &credential_id.as_deref())?;
        event.serialize_field("keyName", name)?;
        event.end()
    }
}

impl CredentialEvent {
    /// What `by` did to `account` at that instant, under a fresh id.
    #[must_use]
    pub fn new(account: AccountId, action: CredentialAction, at: Timestamp, by: &Actor) -> Self {
        let id = format!("evt_{}", Uuid::now_v7().simple()).into();
        Self { account, id, at, action, actor: by.clone(), credential_id: None, name: None }
    }

    /// The same, done to `key`.
    #[must_use]
    pub fn to_key(key: &CredentialRecord, action: CredentialAction, at: Timestamp, by: &Actor) -> Self {
        Self {
            credential_id: Some(Arc::clone(&key.identity.credential_id)),
            name: key.name.clone(),
            ..Self::new(key.identity.account.clone(), action, at, by)
        }
    }
}

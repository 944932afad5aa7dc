//! [`KeyStorage`]: the keys of one account, for the developer settings (section 5.1).

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

/// Retention of an ended key with its events, and of an event without a key. A key that leaks during its retention is
/// still recognized.
pub const RETENTION: Duration = Duration::from_secs(400 * 24 * 60 * 60);

/// Maximum number of ended keys, or of events without a key, that one call removes.
pub const MAX_REMOVED: usize = 100;

/// Maximum number of rename events of one key.
pub const MAX_RENAMES: usize = 20;

/// Storage of the keys of accounts, and of the events that changed them.
///
/// # Contract
/// - Each call is scoped to an account. The result for another account's key is the same as for one that does not exist.
/// - A change and its event are committed together, or neither is. A change writes one event, also a rotation: that of the
///   replaced key. A call that changes nothing writes no event: a second revocation, or a name that the key has already.
/// - The time of an event is the key's creation, the revocation's `at`, or the creation of a rotation's successor. A rename
///   has the current time.
/// - `Ok` means that the change is committed. An error means that nothing has changed, unless its kind is
///   [`OutcomeUnknown`](super::StorageErrorKind::OutcomeUnknown). Each call fails if the storage cannot be read or
///   written now; a call that can fail for other reasons documents them.
/// - A change applies to each lookup that begins after the call has returned.
/// - A call does not block its thread for longer than a lookup does.
/// - A key ends at its revocation or at its expiry, whichever is earlier, for lists and [`RETENTION`]. A key with a
///   revocation, even a future one, is refused and not rotated. Reads and duration of a call do not grow with the number of
///   ended keys.
/// - An ended key and its events are kept for [`RETENTION`]. A call that creates a key in the account removes keys whose
///   retention has ended at the new key's creation, with their events: at most [`MAX_REMOVED`], those that ended first.
/// - A key keeps the events of its last [`MAX_RENAMES`] renames. All other events of a key are kept as long as the key.
#[async_trait]
#[auto_impl(Arc, Box)]
pub trait KeyStorage: fmt::Debug + Send + Sync + 'static {
    /// Returns the keys of `account` that have not ended by `now`, and at most `ended` others: those that ended last. They
    /// are ordered by creation, oldest first, ties by id, compared by bytes. Returns `None` if the account does not exist,
    /// even if another program has removed it and its keys are left. Signature: `async fn list_keys(&self, account: &AccountId,
    /// now: Timestamp, ended: usize) -> Result<Option<Vec<CredentialRecord>>, StorageError>`
    async fn list_keys(
        &self,
        account: &AccountId,
        now: Timestamp,
        ended: usize,
    ) -> Result<Option<Vec<CredentialRecord>>, StorageError>;

    /// Returns the key `id`, whether it has ended or not, or `None` if the account does not have it. Signature: `async fn
    /// find_key(&self, account: &AccountId, id: &str) -> Result<Option<CredentialRecord>, StorageError>`
    async fn find_key(&self, account: &AccountId, id: &str) -> Result<Option<CredentialRecord>, StorageError>;

    /// Stores a key. Signature: `async fn create_key(&self, key: &NewCredential, by: &Actor) -> Result<(), StorageError>`
    ///
    /// All fields of the record are stored, including `revoked_at`, `last_used_at` and `replaced_by`, and an absent name.
    ///
    /// # Errors
    /// Returns [`UnknownReference`](super::StorageErrorKind::UnknownReference) if its account does not exist,
    /// [`AlreadyExists`](super::StorageErrorKind::AlreadyExists) if a key of any account has its digest or its id, or another
    /// error if the storage cannot be written now.
    async fn create_key(&self, key: &NewCredential, by: &Actor) -> Result<(), StorageError>;

    /// Renames the key `id` and returns it, or `None` if the account does not have it. Signature: `async fn rename_key(&self,
    /// account: &AccountId, id: &str, name: &str, by: &Actor) -> Result<Option<CredentialRecord>, StorageError>`
    async fn rename_key(
        &self,
        account: &AccountId,
        id: &str,
        name: &str,
        by: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError>;

    /// Stores `successor`, whose account is `account`, and lets the key `id` expire at `ends_at`, or at its present expiry
    /// if that is earlier. Returns the replaced key, with the successor's id. Signature: `async fn rotate_key(&self, account:
    /// &AccountId, id: &str, ends_at: Timestamp, successor: &NewCredential, by: &Actor) -> Result<Option<CredentialRecord>,
    /// StorageError>`
    ///
    /// Returns `None` if the account does not have the key, or the key is revoked, has expired by the successor's creation,
    /// or already has a successor.
    ///
    /// # Errors
    /// Returns the errors of [`create_key`](Self::create_key).
    async fn rotate_key(
        &self,
        account: &AccountId,
        id: &str,
        ends_at: Timestamp,
        successor: &NewCredential,
        by: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError>;

    /// Revokes the key `id` and returns it, or `None` if the account does not have it. The first revocation's time is kept.
    /// Signature: `async fn revoke_key(&self, account: &AccountId, id: &str, at: Timestamp, by: &Actor) ->
    /// Result<Option<CredentialRecord>, StorageError>`
    async fn revoke_key(
        &self,
        account: &AccountId,
        id: &str,
        at: Timestamp,
        by: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError>;

    /// Returns the account's last events, newest first, at most `limit`. Signature: `async fn list_events(&self, account:
    /// &AccountId, limit: usize) -> Result<Vec<CredentialEvent>, StorageError>`
    async fn list_events(&self, account: &AccountId, limit: usize) -> Result<Vec<CredentialEvent>, StorageError>;
}

/// Author of a change, as the log of changes names them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Actor(Cow<'static, str>);

impl Actor {
    /// The account's owner.
    pub const OWNER: Self = Self(Cow::Borrowed("owner"));
    /// The operator, on the command line.
    pub const OPERATOR: Self = Self(Cow::Borrowed("operator"));

    /// Creates an actor from stored text.
    pub fn from_stored(text: impl Into<String>) -> Self {
        Self(Cow::Owned(text.into()))
    }

    /// Creates the actor for one of several people who own the account together: `owner` and their name.
    #[must_use]
    pub fn owner_named(name: &str) -> Self {
        Self(Cow::Owned(format!("owner {name}")))
    }

    /// Returns the actor's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Action on a key, or on sign-in.
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
    /// A sign-in link was created.
    LinkMade,
    /// A sign-in link was used.
    SignedIn,
    /// A session was ended, or all links and sessions were.
    SignedOut,
}

impl CredentialAction {
    /// All actions.
    pub const ALL: &'static [Self] = &[
        Self::KeyCreated,
        Self::KeyRenamed,
        Self::KeyRotated,
        Self::KeyRevoked,
        Self::LinkMade,
        Self::SignedIn,
        Self::SignedOut,
    ];

    /// Returns the action's name in storages, logs and responses.
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

    /// Returns the action named `name`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }
}

/// One entry of an account's log. It is never changed. [`KeyStorage`] documents how long it is kept.
///
/// As JSON it is an object of `id`, `at`, `action`, `keyId`, `keyName` and `actor`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialEvent {
    /// The account.
    pub account: AccountId,
    /// `evt_` and a UUID of version 7, so that ids are ordered by time.
    pub id: Arc<str>,
    /// Time of the action: the instant that the call names, or else the current time.
    pub at: Timestamp,
    /// The action.
    pub action: CredentialAction,
    /// Author of the action.
    pub actor: Actor,
    /// Id of the key, if the action was on a key.
    pub credential_id: Option<Arc<str>>,
    /// Name of the key at the event; after a rename, the new one.
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
    /// Creates the event of an `action` by `by` on `account`, with a new id.
    #[must_use]
    pub fn new(account: AccountId, action: CredentialAction, at: Timestamp, by: &Actor) -> Self {
        let id = format!("evt_{}", Uuid::now_v7().simple()).into();
        Self { account, id, at, action, actor: by.clone(), credential_id: None, name: None }
    }

    /// Creates the event of an `action` by `by` on `key`, with a new id.
    #[must_use]
    pub fn for_key(key: &CredentialRecord, action: CredentialAction, at: Timestamp, by: &Actor) -> Self {
        Self {
            credential_id: Some(Arc::clone(&key.identity.credential_id)),
            name: key.name.clone(),
            ..Self::new(key.identity.account.clone(), action, at, by)
        }
    }
}

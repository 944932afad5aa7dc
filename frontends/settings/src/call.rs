//! [`Call`]: an owner's operations on the keys of their account, for pages and JSON alike.

use std::time::Duration;

use catalogue_core::Timestamp;
use catalogue_core::admin::{CredentialRecord, CredentialState, NewCredential};
use catalogue_core::auth::{BearerToken, CredentialKind, NewToken, token_kind};
use catalogue_core::storage::{CredentialAction, CredentialEvent, StorageError, StorageErrorKind};

use crate::failure::Failure;
use crate::input::{DAY, NewKey};
use crate::nonce::Nonce;
use crate::owner::Owner;
use crate::pages::Frame;
use crate::settings::Inner;

/// Maximum number of active keys per account.
const MAX_KEYS: usize = 100;

/// Maximum number of new keys per account and day. Ended keys count too, because the storage retains them.
const MAX_NEW_KEYS: usize = 200;

/// Maximum number of ended keys in a list; an older one is found by its id.
pub(crate) const MAX_ENDED: usize = 50;

/// Maximum number of events in a list.
pub(crate) const MAX_EVENTS: usize = 100;

/// A request of an owner.
#[derive(Clone, Copy)]
pub(crate) struct Call<'c> {
    pub(crate) inner: &'c Inner,
    pub(crate) owner: &'c Owner,
    pub(crate) now: Timestamp,
}

/// A key that was just created, and its token.
pub(crate) struct CreatedKey {
    pub(crate) token: NewToken,
    pub(crate) key: CredentialRecord,
    /// The key that the new one replaces, if any.
    pub(crate) replaces: Option<CredentialRecord>,
}

/// Result of checking a pasted text.
pub(crate) struct CheckResult {
    pub(crate) kind: Option<CredentialKind>,
    /// The key, if it is one of the owner's.
    pub(crate) key: Option<CredentialRecord>,
}

impl<'c> Call<'c> {
    /// Returns the surroundings of the owner's pages.
    pub(crate) fn frame(&self) -> Frame<'c> {
        Frame { inner: self.inner, owner: Some(self.owner) }
    }

    /// Returns the account's active keys and the [`MAX_ENDED`] keys that ended last, newest first.
    pub(crate) async fn keys(&self) -> Result<Vec<CredentialRecord>, Failure> {
        self.list(self.now, MAX_ENDED).await
    }

    async fn list(&self, at: Timestamp, ended: usize) -> Result<Vec<CredentialRecord>, Failure> {
        let keys = self.inner.storage.list_keys(&self.owner.account, at, ended).await?;
        let mut keys = keys.ok_or(Failure::NotFound)?;
        keys.reverse();
        Ok(keys)
    }

    /// Returns the key `id`, however long ago it ended.
    pub(crate) async fn key(&self, id: &str) -> Result<CredentialRecord, Failure> {
        let key = self.inner.storage.find_key(&self.owner.account, id).await?;
        key.ok_or(Failure::NotFound)
    }

    pub(crate) async fn create(&self, new: NewKey, nonce: Nonce) -> Result<CreatedKey, Failure> {
        let id = nonce.key_id(&self.owner.account);
        self.check_key_limits(&id, true).await?;
        let (token, key) = self.mint(id, new);
        self.inner.storage.create_key(&key, &self.owner.actor).await.map_err(|error| creation_failure(error, &key))?;
        self.audit(CredentialAction::KeyCreated, &key.record);
        Ok(CreatedKey { token, key: key.record, replaces: None })
    }

    /// Renames a key. `name` must be valid.
    pub(crate) async fn rename(&self, id: &str, name: &str) -> Result<CredentialRecord, Failure> {
        let key = self.key(id).await?;
        if key.name.as_deref() == Some(name) {
            return Ok(key);
        }
        let key = self.inner.storage.rename_key(&self.owner.account, id, name, &self.owner.actor).await?;
        let key = key.ok_or(Failure::NotFound)?;
        self.audit(CredentialAction::KeyRenamed, &key);
        Ok(key)
    }

    /// Creates a successor with the key's name, scopes and lifetime.
    pub(crate) async fn rotate(&self, id: &str, overlap: Duration, nonce: Nonce) -> Result<CreatedKey, Failure> {
        let old = self.key(id).await?;
        let new_id = nonce.key_id(&self.owner.account);
        // A key that ends immediately makes room for its successor.
        self.check_key_limits(&new_id, !overlap.is_zero()).await?;
        if old.identity.kind != CredentialKind::ApiKey || old.state(self.now) != CredentialState::Valid {
            return Err(Failure::NotRotatable);
        }
        let lifetime = old.expires_at.map(|end| end.as_microseconds() - old.created_at.as_microseconds());
        let later = |time: Duration| self.now.checked_add(time).unwrap_or(Timestamp::MAX);
        let successor = NewKey {
            name: old.name.clone().unwrap_or_default(),
            scopes: old.identity.scopes.clone(),
            expires_at: lifetime.map(|time| later(Duration::from_micros(time.unsigned_abs()))),
        };
        let (token, new) = self.mint(new_id, successor);
        let (account, actor) = (&self.owner.account, &self.owner.actor);
        let replaced = self.inner.storage.rotate_key(account, id, later(overlap), &new, actor).await;
        let replaced = replaced.map_err(|error| creation_failure(error, &new))?.ok_or(Failure::NotRotatable)?;
        self.audit(CredentialAction::KeyRotated, &replaced);
        Ok(CreatedKey { token, key: new.record, replaces: Some(replaced) })
    }

    pub(crate) async fn revoke(&self, id: &str) -> Result<CredentialRecord, Failure> {
        let key = self.key(id).await?;
        if key.revoked_at.is_some() {
            return Ok(key);
        }
        let key = self.inner.storage.revoke_key(&self.owner.account, id, self.now, &self.owner.actor).await?;
        let key = key.ok_or(Failure::NotFound)?;
        self.audit(CredentialAction::KeyRevoked, &key);
        Ok(key)
    }

    /// Checks a pasted text. The result is the same for a key of another account and for one that does not exist.
    pub(crate) async fn check(&self, text: &str) -> Result<CheckResult, Failure> {
        let mut key = None;
        if let Some(token) = BearerToken::new(text)
            && let Some(found) = self.inner.storage.find_credential(&token.digest()).await?
        {
            // The key is looked up among the owner's keys only.
            key = self.inner.storage.find_key(&self.owner.account, &found.identity.credential_id).await?;
        }
        let kind = key.as_ref().map(|key| key.identity.kind).or_else(|| token_kind(text));
        Ok(CheckResult { kind, key })
    }

    /// Returns the account's last events, newest first.
    pub(crate) async fn events(&self, max: usize) -> Result<Vec<CredentialEvent>, Failure> {
        Ok(self.inner.storage.list_events(&self.owner.account, max).await?)
    }

    fn mint(&self, id: String, NewKey { name, scopes, expires_at }: NewKey) -> (NewToken, NewCredential) {
        let (token, mut key) = NewCredential::api_key(self.owner.account.clone(), name, scopes);
        key.record.identity.credential_id = id.into();
        key.record.created_at = self.now;
        key.record.expires_at = expires_at;
        (token, key)
    }

    /// Rejects a second key from the same form, too many new keys and, if `adds_active_key`, too many active keys.
    async fn check_key_limits(&self, id: &str, adds_active_key: bool) -> Result<(), Failure> {
        if self.inner.storage.find_key(&self.owner.account, id).await?.is_some() {
            return Err(Failure::AlreadyExists(id.to_owned()));
        }
        // The keys that were active a day ago or later, which include all keys created since.
        let day = i64::try_from(DAY.as_micros()).unwrap_or(i64::MAX);
        let day_ago = Timestamp::from_microseconds(self.now.as_microseconds().saturating_sub(day));
        let keys = self.list(day_ago.unwrap_or(Timestamp::MIN), 0).await?;
        // OAuth tokens do not count: an authorization server issues them without action of the account's owner.
        let keys = || keys.iter().filter(|key| key.identity.kind == CredentialKind::ApiKey);
        if adds_active_key && keys().filter(|key| key.state(self.now).is_active()).count() >= MAX_KEYS {
            return Err(Failure::TooMany);
        }
        let allowed_at = keys().nth(MAX_NEW_KEYS - 1).and_then(|key| key.created_at.checked_add(DAY));
        match allowed_at.map_or(0, |at| at.as_microseconds() - self.now.as_microseconds()) {
            ..=0 => Ok(()),
            wait => Err(Failure::RateLimited(u32::try_from((wait + 999_999) / 1_000_000).unwrap_or(u32::MAX))),
        }
    }

    /// Writes a line to the operator's log. The storage records the event for the owner.
    fn audit(&self, action: CredentialAction, key: &CredentialRecord) {
        let (account, actor) = (self.owner.account.as_str(), self.owner.actor.as_str());
        let (action, key) = (action.name(), &*key.identity.credential_id);
        tracing::info!(target: "catalogue::audit", account, actor, action, key, "a key was changed");
    }
}

/// Converts a storage's error. Since the checks, another request may have created the key or removed the account.
fn creation_failure(error: StorageError, key: &NewCredential) -> Failure {
    match error.kind() {
        StorageErrorKind::AlreadyExists => Failure::AlreadyExists(key.record.identity.credential_id.to_string()),
        StorageErrorKind::UnknownReference => Failure::NotFound,
        _ => error.into(),
    }
}

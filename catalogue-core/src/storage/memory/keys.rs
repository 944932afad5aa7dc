//! Keys of [`MemoryStorage`], and the log of changes to them.

use std::cmp::Reverse;
use std::sync::Arc;

use async_trait::async_trait;

use super::admin::sorted;
use super::{MemoryStorage, State};
use crate::model::{AccountId, CredentialRecord, CredentialState, NewCredential};
use crate::storage::{
    Actor, CredentialAction, CredentialEvent, KeyStorage, MAX_REMOVED, MAX_RENAMES, RETENTION, StorageError,
};
use crate::timestamp::Timestamp;

impl State {
    /// Removes other credentials of the account of `new` that are past retention at `now`, with their events.
    fn remove_ended(&mut self, new: &CredentialRecord, now: Timestamp) {
        let account = &new.identity.account;
        let mut ended: Vec<_> = self
            .credentials
            .values()
            .filter(|key| key.identity.account == *account && key.identity != new.identity)
            .filter_map(|key| Some((key.end()?, Arc::clone(&key.identity.credential_id))))
            .filter(|(end, _)| is_past_retention(*end, now))
            .collect();
        ended.sort_unstable();
        ended.truncate(MAX_REMOVED);
        let is_removed = |id: &Arc<str>| ended.iter().any(|(_, removed)| removed == id);
        self.credentials.retain(|_, key| !is_removed(&key.identity.credential_id));
        self.events.retain(|event| event.account != *account || !event.credential_id.as_ref().is_some_and(is_removed));
    }

    fn key_mut(&mut self, account: &AccountId, id: &str) -> Option<&mut CredentialRecord> {
        self.credential_mut(id).filter(|record| record.identity.account == *account)
    }
}

/// Returns whether a record that ended, or an event that happened, at `time` is past its retention at `now`.
pub(super) fn is_past_retention(time: Timestamp, now: Timestamp) -> bool {
    time.checked_add(RETENTION).is_some_and(|end| end <= now)
}

#[async_trait]
impl KeyStorage for MemoryStorage {
    async fn list_keys(
        &self,
        account: &AccountId,
        now: Timestamp,
        ended: usize,
    ) -> Result<Option<Vec<CredentialRecord>>, StorageError> {
        let state = self.state();
        if !state.accounts.contains_key(account) {
            return Ok(None);
        }
        let of_account = state.credentials.values().filter(|record| record.identity.account == *account);
        let (mut past, current): (Vec<_>, Vec<_>) = of_account.partition(|key| key.end().is_some_and(|end| end <= now));
        past.sort_unstable_by_key(|key| Reverse((key.end(), Arc::clone(&key.identity.credential_id))));
        Ok(Some(sorted(past.into_iter().take(ended).chain(current))))
    }

    async fn find_key(&self, account: &AccountId, id: &str) -> Result<Option<CredentialRecord>, StorageError> {
        Ok(self.state().key_mut(account, id).cloned())
    }

    async fn create_key(&self, key: &NewCredential, by: &Actor) -> Result<(), StorageError> {
        let mut state = self.state();
        state.add_credential(key)?;
        let at = key.record.created_at;
        state.remove_ended(&key.record, at);
        state.events.push(CredentialEvent::for_key(&key.record, CredentialAction::KeyCreated, at, by));
        Ok(())
    }

    async fn rename_key(
        &self,
        account: &AccountId,
        id: &str,
        name: &str,
        by: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError> {
        let mut state = self.state();
        let Some(record) = state.key_mut(account, id) else { return Ok(None) };
        if record.name.as_deref() == Some(name) {
            return Ok(Some(record.clone()));
        }
        record.name = Some(name.to_owned());
        let record = record.clone();
        let event = CredentialEvent::for_key(&record, CredentialAction::KeyRenamed, Timestamp::now(), by);
        state.events.push(event);
        let is_rename = |event: &CredentialEvent| {
            event.action == CredentialAction::KeyRenamed && event.credential_id.as_deref() == Some(id)
        };
        let renames = state.events.iter().filter(|event| is_rename(event)).count();
        let surplus = renames.saturating_sub(MAX_RENAMES);
        let _ = state.events.extract_if(.., |event| is_rename(event)).take(surplus).count();
        Ok(Some(record))
    }

    async fn rotate_key(
        &self,
        account: &AccountId,
        id: &str,
        ends_at: Timestamp,
        successor: &NewCredential,
        by: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError> {
        let mut state = self.state();
        let now = successor.record.created_at;
        if !state.key_mut(account, id).is_some_and(|record| record.state(now) == CredentialState::Valid) {
            return Ok(None);
        }
        state.add_credential(successor)?;
        state.remove_ended(&successor.record, now.min(ends_at));
        let record = state.key_mut(account, id).expect("found above");
        record.expires_at = Some(record.expires_at.map_or(ends_at, |expiry| expiry.min(ends_at)));
        record.replaced_by = Some(Arc::clone(&successor.record.identity.credential_id));
        let record = record.clone();
        state.events.push(CredentialEvent::for_key(&record, CredentialAction::KeyRotated, now, by));
        Ok(Some(record))
    }

    async fn revoke_key(
        &self,
        account: &AccountId,
        id: &str,
        at: Timestamp,
        by: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError> {
        let mut state = self.state();
        let Some(record) = state.key_mut(account, id) else { return Ok(None) };
        if record.revoked_at.is_some() {
            return Ok(Some(record.clone()));
        }
        record.revoked_at = Some(at);
        let record = record.clone();
        state.events.push(CredentialEvent::for_key(&record, CredentialAction::KeyRevoked, at, by));
        Ok(Some(record))
    }

    async fn list_events(&self, account: &AccountId, limit: usize) -> Result<Vec<CredentialEvent>, StorageError> {
        let state = self.state();
        Ok(state.events.iter().rev().filter(|event| event.account == *account).take(limit).cloned().collect())
    }
}

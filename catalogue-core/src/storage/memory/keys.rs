//! The keys of [`MemoryStorage`], and the log of what was done with them.

use std::sync::Arc;

use async_trait::async_trait;

use super::admin::in_order;
use super::{MemoryStorage, State};
use crate::admin::{CredentialRecord, NewCredential};
use crate::model::AccountId;
use crate::storage::{Actor, CredentialAction, CredentialEvent, KeyStorage, StorageError};
use crate::timestamp::Timestamp;

impl State {
    fn key_mut(&mut self, account: &AccountId, id: &str) -> Option<&mut CredentialRecord> {
        self.credential_mut(id).filter(|record| record.identity.account == *account)
    }
}

#[async_trait]
impl KeyStorage for MemoryStorage {
    async fn list_keys(&self, account: &AccountId) -> Result<Option<Vec<CredentialRecord>>, StorageError> {
        let state = self.state();
        if !state.accounts.contains_key(account) {
            return Ok(None);
        }
        let of_account = state.credentials.values().filter(|record| record.identity.account == *account);
        Ok(Some(in_order(of_account)))
    }

    async fn create_key(&self, key: &NewCredential, by: &Actor) -> Result<(), StorageError> {
        let mut state = self.state();
        state.add_credential(key)?;
        let at = key.record.created_at;
        state.events.push(CredentialEvent::to_key(&key.record, CredentialAction::KeyCreated, at, by));
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
        let event = CredentialEvent::to_key(&record, CredentialAction::KeyRenamed, Timestamp::now(), by);
        state.events.push(event);
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
        let holds = |record: &CredentialRecord| {
            let has_expired = record.expires_at.is_some_and(|expiry| expiry <= now);
            record.revoked_at.is_none() && !has_expired && record.replaced_by.is_none()
        };
        if !state.key_mut(account, id).is_some_and(|record| holds(record)) {
            return Ok(None);
        }
        state.add_credential(successor)?;
        let record = state.key_mut(account, id).expect("it was found before");
        record.expires_at = Some(record.expires_at.map_or(ends_at, |expiry| expiry.min(ends_at)));
        record.replaced_by = Some(Arc::clone(&successor.record.identity.credential_id));
        let record = record.clone();
        state.events.push(CredentialEvent::to_key(&record, CredentialAction::KeyRotated, now, by));
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
        state.events.push(CredentialEvent::to_key(&record, CredentialAction::KeyRevoked, at, by));
        Ok(Some(record))
    }

    async fn list_events(&self, account: &AccountId, most: usize) -> Result<Vec<CredentialEvent>, StorageError> {
        let state = self.state();
        Ok(state.events.iter().rev().filter(|event| event.account == *account).take(most).cloned().collect())
    }
}

//! Administration of a [`MemoryStorage`].

use async_trait::async_trait;

use super::import::MemoryImport;
use super::sign_ins::SIGN_IN_RETENTION;
use super::{AccountState, MemoryStorage, State};
use crate::model::{
    AccountId, AccountSummary, Accounts, CredentialKind, CredentialRecord, CredentialUse, RemovedAccount, TokenDigest,
};
use crate::storage::StorageError;
use crate::storage::admin::{AdminStorage, Import, Record, Visitor};
use crate::timestamp::Timestamp;

impl State {
    /// Returns `accounts`, ordered by id.
    fn of(&self, accounts: Accounts<'_>) -> Vec<AccountState> {
        self.accounts.iter().filter(|(id, _)| is_selected(accounts, id)).map(|(_, account)| account.clone()).collect()
    }
}

fn is_selected(accounts: Accounts<'_>, id: &AccountId) -> bool {
    match accounts {
        Accounts::All => true,
        Accounts::Only(ids) => ids.contains(id),
    }
}

#[async_trait]
impl AdminStorage for MemoryStorage {
    async fn begin_import(&self) -> Result<Box<dyn Import>, StorageError> {
        Ok(Box::new(MemoryImport::begin(self)))
    }

    async fn export(&self, accounts: Accounts<'_>, visit: &mut Visitor<'_>) -> Result<(), StorageError> {
        let accounts = self.state().of(accounts);
        let courses = accounts.iter().flat_map(|account| account.courses.values());
        let courses = courses.map(|course| Record::Course((**course).clone()));
        let mut records = accounts.iter().map(|account| Record::Account(account.account.clone())).chain(courses);
        let _ = records.try_for_each(visit);
        Ok(())
    }

    async fn list_accounts(
        &self,
        accounts: Accounts<'_>,
        now: Timestamp,
        visit: &mut Visitor<'_, AccountSummary>,
    ) -> Result<(), StorageError> {
        let (accounts, credentials) = {
            let state = self.state();
            (state.of(accounts), state.credentials.clone())
        };
        let _ = accounts.into_iter().try_for_each(|account| {
            let is_active_key = |record: &&CredentialRecord| {
                record.identity.account == account.account.id
                    && record.identity.kind == CredentialKind::ApiKey
                    && record.state(now).is_active()
            };
            let keys = credentials.values().filter(is_active_key).count() as u64;
            visit(AccountSummary { courses: account.courses.len() as u64, keys, account: account.account })
        });
        Ok(())
    }

    async fn remove_account(&self, account: &AccountId) -> Result<Option<RemovedAccount>, StorageError> {
        let mut state = self.state();
        let Some(AccountState { courses, .. }) = state.accounts.remove(account) else { return Ok(None) };
        state.changes += 1;
        state.sign_ins.retain(|_, sign_in| sign_in.account != *account);
        state.events.retain(|event| event.account != *account);
        let removed = state.credentials.extract_if(|_, record| record.identity.account == *account);
        let (keys, tokens): (Vec<_>, Vec<_>) =
            removed.map(|(_, record)| record.identity.kind).partition(|kind| *kind == CredentialKind::ApiKey);
        Ok(Some(RemovedAccount {
            courses: courses.len() as u64,
            modules: courses.values().map(|course| course.modules.len() as u64).sum(),
            keys: keys.len() as u64,
            tokens: tokens.len() as u64,
            remains: None,
        }))
    }

    async fn remove_course(&self, account: &AccountId, slug: &str) -> Result<bool, StorageError> {
        let mut state = self.state();
        let removed = state.accounts.get_mut(account).is_some_and(|account| account.remove(slug));
        state.changes += u64::from(removed);
        Ok(removed)
    }

    async fn visit_credentials(
        &self,
        accounts: Accounts<'_>,
        visit: &mut Visitor<'_, CredentialRecord>,
    ) -> Result<(), StorageError> {
        let records = self.state();
        let records =
            sorted(records.credentials.values().filter(|record| is_selected(accounts, &record.identity.account)));
        let _ = records.into_iter().try_for_each(visit);
        Ok(())
    }

    async fn find_credential_record(&self, id: &str) -> Result<Option<CredentialRecord>, StorageError> {
        Ok(self.state().credential_mut(id).cloned())
    }

    async fn record_uses(&self, uses: &[CredentialUse]) -> Result<(), StorageError> {
        let mut state = self.state();
        for CredentialUse { account, credential_id, at } in uses {
            if let Some(record) = state.credential_mut(credential_id)
                && record.identity.account == *account
            {
                record.last_used_at = record.last_used_at.max(Some(*at));
            }
        }
        Ok(())
    }

    async fn revoke_tokens(
        &self,
        digests: &[TokenDigest],
        expires_at: Timestamp,
        at: Timestamp,
    ) -> Result<(), StorageError> {
        let mut state = self.state();
        state
            .revoked_tokens
            .retain(|_, expires_at| expires_at.checked_add(SIGN_IN_RETENTION).is_none_or(|end| end > at));
        for digest in digests {
            state.revoked_tokens.entry(*digest).or_insert(expires_at);
        }
        Ok(())
    }
}

/// Sorts records by account, then oldest first.
pub(super) fn sorted<'r>(records: impl Iterator<Item = &'r CredentialRecord>) -> Vec<CredentialRecord> {
    let mut records: Vec<_> = records.cloned().collect();
    records.sort_by_cached_key(|record| {
        (record.identity.account.clone(), record.created_at, record.identity.credential_id.clone())
    });
    records
}

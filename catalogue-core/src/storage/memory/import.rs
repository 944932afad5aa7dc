//! [`MemoryImport`]: an import into a copy of the accounts.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use super::{AccountState, MemoryStorage, unknown_account};
use crate::model::{Account, AccountId, Course, is_slug};
use crate::storage::admin::{Change, Import};
use crate::storage::{StorageError, StorageErrorKind};
use crate::timestamp::Timestamp;

/// A copy of the accounts that replaces them when it is committed.
pub(super) struct MemoryImport {
    target: MemoryStorage,
    /// Value of `State::changes` when the accounts were copied.
    changes: u64,
    accounts: BTreeMap<AccountId, AccountState>,
    imported_accounts: BTreeSet<AccountId>,
    imported_courses: BTreeSet<(AccountId, String)>,
}

impl MemoryImport {
    pub(super) fn begin(target: &MemoryStorage) -> Self {
        let state = target.state();
        Self {
            target: target.clone(),
            changes: state.changes,
            accounts: state.accounts.clone(),
            imported_accounts: BTreeSet::new(),
            imported_courses: BTreeSet::new(),
        }
    }
}

#[async_trait]
impl Import for MemoryImport {
    async fn put_account(&mut self, account: &Account) -> Result<Change, StorageError> {
        if !self.imported_accounts.insert(account.id.clone()) {
            return Ok(Change::Repeated);
        }
        Ok(match self.accounts.get_mut(&account.id) {
            None => {
                self.accounts.insert(account.id.clone(), AccountState::new(account.clone()));
                Change::Added
            }
            Some(known) if known.account == *account => Change::Unchanged,
            Some(known) => {
                known.account = account.clone();
                Change::Changed
            }
        })
    }

    async fn creation_time(&mut self, account: &AccountId, slug: &str) -> Result<Option<Timestamp>, StorageError> {
        let course = self.accounts.get(account).and_then(|account| account.courses.get(slug));
        Ok(course.map(|course| course.created_at))
    }

    async fn put_course(&mut self, course: &Course) -> Result<Change, StorageError> {
        let account = self.accounts.get_mut(&course.account).ok_or_else(|| unknown_account(&course.account))?;
        if !is_slug(&course.slug) {
            return Err(StorageError::new(StorageErrorKind::InvalidValue, format!("invalid slug {:?}", course.slug)));
        }
        if !self.imported_courses.insert((course.account.clone(), course.slug.clone())) {
            return Ok(Change::Repeated);
        }
        let change = match account.courses.get(&course.slug) {
            None => Change::Added,
            Some(known) if **known == *course => return Ok(Change::Unchanged),
            Some(_) => Change::Changed,
        };
        account.put(course.clone());
        Ok(change)
    }

    async fn prune(&mut self) -> Result<Vec<(AccountId, String)>, StorageError> {
        let mut removed = Vec::new();
        for id in &self.imported_accounts {
            let account = self.accounts.get_mut(id).expect("imported before");
            let courses: Vec<_> = account.courses.keys().map(|slug| (id.clone(), slug.clone())).collect();
            for course in courses.into_iter().filter(|course| !self.imported_courses.contains(course)) {
                account.remove(&course.1);
                removed.push(course);
            }
        }
        Ok(removed)
    }

    async fn commit(self: Box<Self>) -> Result<(), StorageError> {
        let mut state = self.target.state();
        if state.changes != self.changes {
            let message = "an account or a course was changed during the import; repeat the import";
            return Err(StorageError::new(StorageErrorKind::Busy, message));
        }
        state.accounts = self.accounts;
        state.changes += 1;
        Ok(())
    }
}

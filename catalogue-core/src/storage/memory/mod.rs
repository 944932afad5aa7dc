//! [`MemoryStorage`]: the reference implementation, for tests and trials.

mod admin;
mod import;
mod keys;
mod sign_ins;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use uuid::Uuid;

use self::sign_ins::SignIn;
use super::{
    AtRevision, CourseRow, CourseRows, CourseStorage, CredentialEvent, CredentialStorage, PageRequest, Position,
    Revision, StorageError, StorageErrorKind,
};
use crate::model::{
    Account, AccountId, Course, CourseDetail, Credential, CredentialRecord, Module, NewCredential, TokenDigest,
};
use crate::timestamp::Timestamp;

/// Accounts, courses and credentials in this process's memory. Clones share them.
///
/// It is the simplest implementation of the storage contract, not the fastest: an import copies everything it may
/// change.
#[derive(Clone, Default)]
pub struct MemoryStorage {
    state: Arc<Mutex<State>>,
}

#[derive(Clone, Default)]
struct State {
    accounts: BTreeMap<AccountId, AccountState>,
    /// Grows with every change to the accounts, so that an import can detect changes by others.
    changes: u64,
    credentials: HashMap<TokenDigest, CredentialRecord>,
    sign_ins: HashMap<TokenDigest, SignIn>,
    /// Revoked signed tokens, with their expiry.
    revoked_tokens: HashMap<TokenDigest, Timestamp>,
    /// In the order of the calls that wrote them.
    events: Vec<CredentialEvent>,
}

#[derive(Clone)]
struct AccountState {
    account: Account,
    revision: Revision,
    /// By slug.
    courses: BTreeMap<String, Arc<Course>>,
}

impl AccountState {
    fn new(account: Account) -> Self {
        Self { account, revision: fresh_revision(), courses: BTreeMap::new() }
    }

    fn put(&mut self, course: Course) {
        self.courses.insert(course.slug.clone(), Arc::new(course));
        self.revision = fresh_revision();
    }

    fn remove(&mut self, slug: &str) -> bool {
        let removed = self.courses.remove(slug).is_some();
        if removed {
            self.revision = fresh_revision();
        }
        removed
    }
}

impl State {
    fn credential_mut(&mut self, id: &str) -> Option<&mut CredentialRecord> {
        self.credentials.values_mut().find(|record| *record.identity.credential_id == *id)
    }

    fn add_credential(&mut self, credential: &NewCredential) -> Result<(), StorageError> {
        let NewCredential { digest, record } = credential;
        let account = &record.identity.account;
        if !self.accounts.contains_key(account) {
            return Err(unknown_account(account));
        }
        if self.credentials.contains_key(digest) || self.credential_mut(&record.identity.credential_id).is_some() {
            return Err(StorageError::new(StorageErrorKind::AlreadyExists, "the credential already exists"));
        }
        self.credentials.insert(*digest, record.clone());
        Ok(())
    }
}

fn fresh_revision() -> Revision {
    Revision::from_bytes(Uuid::new_v4().into_bytes())
}

impl MemoryStorage {
    /// Creates an empty storage.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is made in one step, so a panic elsewhere leaves consistent data behind.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Omits the content, which must not be logged.
impl fmt::Debug for MemoryStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStorage").finish_non_exhaustive()
    }
}

#[async_trait]
impl CourseStorage for MemoryStorage {
    async fn list_courses(
        &self,
        account: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Revision>, StorageError> {
        let state = self.state();
        let Some(account) = state.accounts.get(account) else { return Ok(None) };
        let position = |course: &Course| Position { created_at: course.created_at, slug: course.slug.clone() };
        let courses = account.courses.values().map(|course| (position(course), course));
        let mut courses: Vec<_> =
            courses.filter(|(position, _)| page.after.as_ref().is_none_or(|after| position < after)).collect();
        courses.sort_by(|(one, _), (other, _)| other.cmp(one));
        let _ = courses.iter().try_for_each(|(position, course)| rows.push(row(course), || position.clone()));
        Ok(Some(account.revision))
    }

    async fn find_course(
        &self,
        account: &AccountId,
        slug: &str,
    ) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
        let state = self.state();
        let Some(account) = state.accounts.get(account) else { return Ok(None.into()) };
        let value = account.courses.get(slug).map(|course| detail(course));
        Ok(AtRevision { value, revision: Some(account.revision) })
    }

    async fn revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        Ok(self.state().accounts.get(account).map(|account| account.revision))
    }
}

fn row(course: &Course) -> CourseRow<'_> {
    CourseRow {
        slug: &course.slug,
        title: &course.title,
        language: &course.language,
        published_at: course.published_at,
        hidden: course.hidden,
        module_count: module_count(course),
    }
}

fn detail(course: &Course) -> CourseDetail {
    let headers = (1..=module_count(course)).zip(&course.modules);
    CourseDetail {
        slug: course.slug.clone(),
        title: course.title.clone(),
        tagline: course.tagline.clone(),
        language: course.language.clone(),
        published_at: course.published_at,
        hidden: course.hidden,
        access_mode: course.access_mode.clone(),
        modules: headers
            .map(|(number, module)| Module { number, title: module.title.clone(), summary: module.summary.clone() })
            .collect(),
    }
}

fn module_count(course: &Course) -> u32 {
    u32::try_from(course.modules.len()).unwrap_or(u32::MAX)
}

#[async_trait]
impl CredentialStorage for MemoryStorage {
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        let state = self.state();
        Ok(state.credentials.get(digest).map(|record| {
            let mut credential = Credential::new(record.identity.clone());
            credential.expires_at = record.expires_at;
            credential.revoked_at = record.revoked_at;
            credential.revision = state.accounts.get(&record.identity.account).map(|account| account.revision);
            credential
        }))
    }

    async fn is_revoked(&self, digest: &TokenDigest) -> Result<Option<bool>, StorageError> {
        Ok(Some(self.state().revoked_tokens.contains_key(digest)))
    }
}

fn unknown_account(account: &AccountId) -> StorageError {
    StorageError::new(StorageErrorKind::UnknownReference, format!("account {account:?} does not exist"))
}

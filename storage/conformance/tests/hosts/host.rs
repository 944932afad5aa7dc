//! A host application's tables, and the fixture that fills them.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use catalogue_core::admin::{Account, AdminStorage, NewCredential};
use catalogue_core::storage::{Actor, CredentialEvent, KeyStorage, MemoryStorage, Revision};
use catalogue_core::{AccountId, Course, Timestamp};
use catalogue_storage_conformance::{
    AccountFixture, CourseFixture, CredentialFixture, Fixture, Precision, SignInFixture, sample,
};

use crate::blocked_reads::Lock;
use crate::flaws::{Courses, Flaw};
use crate::rows::Rows;

/// A host application's courses, locked for each statement.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub(crate) courses: BTreeMap<(AccountId, String), Course>,
    pub(crate) removed: BTreeMap<(AccountId, String), Course>,
    pub(crate) first_seen: BTreeMap<(AccountId, String), Course>,
    pub(crate) revisions: HashMap<AccountId, Revision>,
    pub(crate) first_revisions: HashMap<AccountId, Revision>,
}

/// A host application with numbers as ids, times in whole seconds, and short ASCII slugs. It has no taglines, access modes,
/// bodies, OAuth tokens or revocations of signed tokens.
pub(crate) struct Host {
    courses: Courses,
    rows: Rows,
    tables: Arc<RwLock<Tables>>,
    revision_count: AtomicU64,
    /// Names by id: the id is the position in the list.
    names: Mutex<Vec<String>>,
}

impl Host {
    pub(crate) fn new(flaw: Option<Flaw>) -> Self {
        Self::with(flaw, Lock::new(1))
    }

    pub(crate) fn with_lock(lock: Lock) -> Self {
        Self::with(None, lock)
    }

    fn with(flaw: Option<Flaw>, lock: Lock) -> Self {
        let lock = Arc::new(lock);
        let tables = Arc::<RwLock<Tables>>::default();
        Self {
            courses: Courses { tables: tables.clone(), flaw, lock: lock.clone() },
            rows: Rows { memory: MemoryStorage::new(), tables: tables.clone(), flaw, lock },
            tables,
            revision_count: AtomicU64::new(0),
            names: Mutex::default(),
        }
    }

    fn id_of(&self, name: &str) -> String {
        let mut names = self.names.lock().unwrap();
        let known = names.iter().position(|known| known == name);
        let id = known.unwrap_or(names.len());
        if known.is_none() {
            names.push(name.to_owned());
        }
        id.to_string()
    }

    fn replace_revision(&self, tables: &mut Tables, account: &AccountId) {
        let number = u128::from(self.revision_count.fetch_add(1, Ordering::SeqCst));
        let revision = Revision::from_bytes(number.to_be_bytes());
        tables.revisions.insert(account.clone(), revision);
        tables.first_revisions.entry(account.clone()).or_insert(revision);
    }
}

pub(crate) fn is_whole_second(time: Timestamp) -> bool {
    time.as_microseconds() % 1_000_000 == 0
}

fn is_plain_slug(slug: &str) -> bool {
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    slug.len() <= 64 && slug.split('-').all(plain)
}

/// Panics if the tables' constraints would refuse the course.
fn assert_accepted(course: &Course) {
    let numbered = course.account.as_str().parse::<u64>().is_ok();
    let whole = [course.created_at].into_iter().chain(course.published_at).all(is_whole_second);
    let no_texts = course.tagline.is_empty() && course.access_mode.is_none();
    let no_bodies = course.modules.iter().all(|module| module.content.is_empty());
    assert!(numbered && whole && is_plain_slug(&course.slug) && no_texts && no_bodies, "refused: {course:?}");
}

impl Fixture for Host {
    async fn account(&self, name: &str) -> AccountId {
        AccountId::new(self.id_of(name))
    }

    fn precision(&self) -> Precision {
        Precision::Seconds
    }

    fn reads_may_be_blocked(&self) -> bool {
        self.courses.lock.is_declared
    }
}

impl CourseFixture for Host {
    type Storage = Courses;

    fn storage(&self) -> &Courses {
        &self.courses
    }

    async fn put_course(&self, course: &Course) {
        assert_accepted(course);
        let mut tables = self.tables.write().unwrap();
        let key = (course.account.clone(), course.slug.clone());
        tables.first_seen.entry(key.clone()).or_insert_with(|| course.clone());
        if tables.courses.insert(key, course.clone()).as_ref() != Some(course) {
            self.replace_revision(&mut tables, &course.account);
        }
    }

    async fn remove_course(&self, account: &AccountId, slug: &str) {
        let mut tables = self.tables.write().unwrap();
        let key = (account.clone(), slug.to_owned());
        let course = tables.courses.remove(&key).expect("the course exists");
        tables.first_seen.remove(&key);
        tables.removed.insert(key, course);
        if self.courses.flaw != Some(Flaw::IgnoresRemovalInRevision) {
            self.replace_revision(&mut tables, account);
        }
    }

    fn accepts_slug(&self, slug: &str) -> bool {
        is_plain_slug(slug)
    }

    fn strip_unsupported(&self, course: &mut Course) {
        course.tagline.clear();
        course.access_mode = None;
        course.modules.iter_mut().for_each(|module| module.content.clear());
    }
}

impl AccountFixture for Host {
    async fn put_account(&self, account: &Account) {
        assert!(account.id.as_str().parse::<u64>().is_ok(), "refused: {account:?}");
        AccountFixture::put_account(&self.rows.memory, account).await;
    }

    async fn remove_account(&self, account: &AccountId) {
        AccountFixture::remove_account(&self.rows.memory, account).await;
    }
}

impl CredentialFixture for Host {
    type Storage = Rows;

    fn storage(&self) -> &Rows {
        &self.rows
    }

    async fn put_credential(&self, key: &NewCredential) {
        let account = &key.record.identity.account;
        if self.rows.list_keys(account, Timestamp::MAX, 0).await.unwrap().is_none() {
            self.put_account(&sample::account(account.as_str())).await;
        }
        self.rows.create_key(key, &Actor::OPERATOR).await.unwrap();
    }

    async fn revoke_credential(&self, id: &str, at: Timestamp) {
        let record = self.rows.memory.find_credential_record(id).await.unwrap().unwrap();
        self.rows.revoke_key(&record.identity.account, id, at, &Actor::OPERATOR).await.unwrap().unwrap();
    }

    async fn key(&self, name: &str) -> String {
        self.id_of(name)
    }

    fn has_oauth_tokens(&self) -> bool {
        false
    }
}

impl SignInFixture for Host {
    type Storage = Rows;

    fn storage(&self) -> &Rows {
        &self.rows
    }

    async fn events(&self, account: &AccountId) -> Vec<CredentialEvent> {
        self.rows.list_events(account, usize::MAX).await.unwrap()
    }
}

//! A host application's tables, and the fixture that fills them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, RwLock};

use catalogue_core::admin::NewCredential;
use catalogue_core::auth::{Credential, CredentialKind, TokenDigest};
use catalogue_core::storage::Revision;
use catalogue_core::{AccountId, Course, Timestamp};
use catalogue_storage_conformance::{CourseFixture, CredentialFixture, Fixture, Precision};

use crate::credentials::{self, Credentials};
use crate::flaws::{self, Courses};

/// A host application's data, locked for each statement.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub(crate) courses: BTreeMap<(AccountId, String), Course>,
    pub(crate) removed: BTreeMap<(AccountId, String), Course>,
    pub(crate) first_seen: BTreeMap<(AccountId, String), Course>,
    pub(crate) credentials: HashMap<TokenDigest, Credential>,
    /// `None` if signed tokens cannot be revoked.
    pub(crate) revoked_tokens: Option<HashSet<TokenDigest>>,
    pub(crate) revisions: HashMap<AccountId, Revision>,
    pub(crate) first_revisions: HashMap<AccountId, Revision>,
}

/// A host application: its storages, and its tables, which it writes itself.
pub(crate) struct Host {
    courses: Courses,
    credentials: Credentials,
    tables: std::sync::Arc<RwLock<Tables>>,
    revision_count: AtomicU64,
    /// Names by id: the id is the position in the list. `None` if ids are arbitrary texts.
    names: Option<Mutex<Vec<String>>>,
}

/// Flaw of one of a host application's storages.
pub(crate) trait Flawed {
    fn apply_to(self, host: &mut Host);
}

impl Flawed for flaws::Flaw {
    fn apply_to(self, host: &mut Host) {
        host.courses.flaw = Some(self);
    }
}

impl Flawed for credentials::Flaw {
    fn apply_to(self, host: &mut Host) {
        host.credentials.flaw = Some(self);
    }
}

impl Host {
    /// Creates a host application whose tables store everything.
    pub(crate) fn full() -> Self {
        let tables = Tables { revoked_tokens: Some(HashSet::new()), ..Tables::default() };
        let tables = std::sync::Arc::new(RwLock::new(tables));
        Self {
            courses: Courses { tables: tables.clone(), flaw: None },
            credentials: Credentials { tables: tables.clone(), flaw: None },
            tables,
            revision_count: AtomicU64::new(0),
            names: None,
        }
    }

    /// Creates a host application with numbers as ids, times in whole seconds, and short ASCII slugs. It has no taglines,
    /// access modes, bodies, OAuth tokens or revocations of signed tokens.
    pub(crate) fn minimal() -> Self {
        let host = Self::full();
        host.tables.write().unwrap().revoked_tokens = None;
        Self { names: Some(Mutex::default()), ..host }
    }

    pub(crate) fn with(mut self, flaw: impl Flawed) -> Self {
        flaw.apply_to(&mut self);
        self
    }

    fn id_of(&self, name: &str) -> String {
        let Some(names) = &self.names else { return name.to_owned() };
        let mut names = names.lock().unwrap();
        let known = names.iter().position(|known| known == name);
        let id = known.unwrap_or(names.len());
        if known.is_none() {
            names.push(name.to_owned());
        }
        id.to_string()
    }

    fn is_minimal(&self) -> bool {
        self.names.is_some()
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

/// Panics if the constraints of minimal tables would refuse the course.
fn assert_minimal(course: &Course) {
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
        if self.is_minimal() { Precision::Seconds } else { Precision::Microseconds }
    }
}

impl CourseFixture for Host {
    type Storage = Courses;

    fn storage(&self) -> &Courses {
        &self.courses
    }

    async fn put_course(&self, course: &Course) {
        if self.is_minimal() {
            assert_minimal(course);
        }
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
        if self.courses.flaw != Some(flaws::Flaw::IgnoresRemovalInRevision) {
            self.replace_revision(&mut tables, account);
        }
    }

    fn accepts_slug(&self, slug: &str) -> bool {
        !self.is_minimal() || is_plain_slug(slug)
    }

    fn strip_unsupported(&self, course: &mut Course) {
        if self.is_minimal() {
            course.tagline.clear();
            course.access_mode = None;
            course.modules.iter_mut().for_each(|module| module.content.clear());
        }
    }
}

impl CredentialFixture for Host {
    type Storage = Credentials;

    fn storage(&self) -> &Credentials {
        &self.credentials
    }

    async fn put_credential(&self, new: &NewCredential) {
        let identity = new.record.identity.clone();
        if self.is_minimal() {
            let numbered = identity.credential_id.parse::<u64>().is_ok() && identity.kind == CredentialKind::ApiKey;
            assert!(numbered && new.record.expires_at.is_none_or(is_whole_second), "refused: {:?}", new.record);
        }
        let mut credential = Credential::new(identity);
        credential.expires_at = new.record.expires_at;
        self.tables.write().unwrap().credentials.insert(new.digest, credential);
    }

    async fn revoke_credential(&self, id: &str, at: Timestamp) {
        let mut tables = self.tables.write().unwrap();
        let mut credentials = tables.credentials.values_mut();
        let credential = credentials.find(|credential| *credential.identity.credential_id == *id);
        credential.expect("the credential exists").revoked_at = Some(at);
    }

    async fn revoke_token(&self, digest: &TokenDigest, _expires_at: Timestamp) {
        self.tables.write().unwrap().revoked_tokens.as_mut().expect("the host supports revocations").insert(*digest);
    }

    async fn key(&self, name: &str) -> String {
        self.id_of(name)
    }

    fn has_oauth_tokens(&self) -> bool {
        !self.is_minimal()
    }
}

//! A host application that stores less than the built-in storages, and the fixture that fills its tables.

use std::sync::Mutex;

use catalogue_core::admin::{Account, CredentialRecord, NewCredential};
use catalogue_core::auth::CredentialKind;
use catalogue_core::storage::{CredentialEvent, KeyStorage, SignInStorage};
use catalogue_core::{AccountId, Course, Timestamp};
use catalogue_storage_conformance::{
    AccountFixture, CourseFixture, CredentialFixture, Fixture, Precision, SignInFixture,
};

use crate::broken::{Broken, run};

/// A host application with numbers as ids, times in whole seconds, and short ASCII slugs. It has no taglines, access modes,
/// bodies, OAuth tokens or revocations of signed tokens.
pub(crate) struct Host {
    pub(crate) storage: Broken,
    pub(crate) reads_may_be_blocked: bool,
    /// Names by id: the id is the position in the list.
    pub(crate) names: Mutex<Vec<String>>,
}

impl Host {
    pub(crate) fn new() -> Self {
        Self::over(storage())
    }

    /// Creates a host application with a storage that may have a flaw.
    pub(crate) fn over(storage: Broken) -> Self {
        Self { storage, reads_may_be_blocked: false, names: Mutex::default() }
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
}

/// Returns a storage of keys and sign-ins that panics on values that its columns could not store.
fn storage() -> Broken {
    Broken::new()
        .revoked(|revoked| *revoked = None)
        .list_keys(|memory, account, now, ended| {
            assert_number(account.as_str());
            run(memory.list_keys(account, now, ended))
        })
        .create_key(|memory, key, by| {
            assert_key(key);
            run(memory.create_key(key, by))
        })
        .rename_key(|memory, account, id, name, by| {
            assert_number(account.as_str());
            run(memory.rename_key(account, id, name, by))
        })
        .rotate_key(|memory, account, id, ends_at, successor, by| {
            assert_key(successor);
            assert_whole_seconds([Some(ends_at)]);
            run(memory.rotate_key(account, id, ends_at, successor, by))
        })
        .revoke_key(|memory, account, id, at, by| {
            assert_number(account.as_str());
            assert_whole_seconds([Some(at)]);
            run(memory.revoke_key(account, id, at, by))
        })
        .create_link(|memory, link, by| {
            assert_number(link.account.as_str());
            assert_whole_seconds([Some(link.created_at), Some(link.expires_at)]);
            run(memory.create_link(link, by))
        })
        .exchange_link(|memory, link, now, session| {
            assert_whole_seconds([Some(now), Some(session.created_at), Some(session.expires_at)]);
            run(memory.exchange_link(link, now, session))
        })
}

fn is_whole_second(time: Timestamp) -> bool {
    time.as_microseconds() % 1_000_000 == 0
}

fn assert_whole_seconds<const N: usize>(times: [Option<Timestamp>; N]) {
    assert!(times.into_iter().flatten().all(is_whole_second), "refused: {times:?}");
}

fn assert_number(id: &str) {
    assert!(id.parse::<u64>().is_ok(), "refused: {id:?}");
}

fn assert_key(key: &NewCredential) {
    let CredentialRecord { identity, created_at, expires_at, revoked_at, last_used_at, replaced_by, .. } = &key.record;
    assert_eq!(identity.kind, CredentialKind::ApiKey, "refused");
    assert_number(&identity.credential_id);
    assert_number(identity.account.as_str());
    replaced_by.iter().for_each(|id| assert_number(id));
    assert_whole_seconds([Some(*created_at), *expires_at, *revoked_at, *last_used_at]);
}

fn is_plain_slug(slug: &str) -> bool {
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    slug.len() <= 64 && slug.split('-').all(plain)
}

impl Fixture for Host {
    async fn account(&self, name: &str) -> AccountId {
        AccountId::new(self.id_of(name))
    }

    fn precision(&self) -> Precision {
        Precision::Seconds
    }

    fn reads_may_be_blocked(&self) -> bool {
        self.reads_may_be_blocked
    }
}

impl CourseFixture for Host {
    type Storage = Broken;

    fn storage(&self) -> &Broken {
        &self.storage
    }

    async fn put_course(&self, course: &Course) {
        assert_number(course.account.as_str());
        assert_whole_seconds([Some(course.created_at), course.published_at]);
        let no_texts = course.tagline.is_empty() && course.access_mode.is_none();
        let no_bodies = course.modules.iter().all(|module| module.content.is_empty());
        assert!(is_plain_slug(&course.slug) && no_texts && no_bodies, "refused: {course:?}");
        CourseFixture::put_course(&self.storage, course).await;
    }

    async fn remove_course(&self, account: &AccountId, slug: &str) {
        CourseFixture::remove_course(&self.storage, account, slug).await;
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

impl CredentialFixture for Host {
    type Storage = Broken;

    fn storage(&self) -> &Broken {
        &self.storage
    }

    async fn put_credential(&self, key: &NewCredential) {
        CredentialFixture::put_credential(&self.storage, key).await;
    }

    async fn revoke_credential(&self, id: &str, at: Timestamp) {
        CredentialFixture::revoke_credential(&self.storage, id, at).await;
    }

    async fn key(&self, name: &str) -> String {
        self.id_of(name)
    }

    fn has_oauth_tokens(&self) -> bool {
        false
    }
}

impl AccountFixture for Host {
    async fn put_account(&self, account: &Account) {
        assert_number(account.id.as_str());
        AccountFixture::put_account(&self.storage, account).await;
    }

    async fn remove_account(&self, account: &AccountId) {
        AccountFixture::remove_account(&self.storage, account).await;
    }
}

impl SignInFixture for Host {
    type Storage = Broken;

    fn storage(&self) -> &Broken {
        &self.storage
    }

    async fn events(&self, account: &AccountId) -> Vec<CredentialEvent> {
        SignInFixture::events(&self.storage, account).await
    }
}

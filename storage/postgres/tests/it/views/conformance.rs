//! Runs the conformance suites over views of a host application's tables, which only that application writes.

use std::collections::HashMap;
use std::fmt;
use std::slice;
use std::sync::{Arc, Mutex};

use catalogue_core::admin::{Account, AdminStorage, NewCredential};
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::{
    Actor, CourseStorage, CredentialEvent, CredentialStorage, KeyStorage, MemoryStorage, NewSession, NewSignIn,
    Session, SignInStorage, StorageError, StorageErrorKind,
};
use catalogue_core::{AccountId, Course, Timestamp, async_trait};
use catalogue_storage_conformance::{AccountFixture, CourseFixture, CredentialFixture, Fixture, SignInFixture};

use super::host_app::{HostApp, NUMBERS, TEXTS};

mod texts {
    catalogue_storage_conformance::course_and_credential_storage_tests!(|| super::Tested::new(super::TEXTS));
}

mod numbers {
    catalogue_storage_conformance::course_and_credential_storage_tests!(|| super::Tested::new(super::NUMBERS));
}

mod keys {
    catalogue_storage_conformance::key_storage_tests!(|| super::Tested::new(super::TEXTS));
}

mod sign_ins {
    catalogue_storage_conformance::sign_in_storage_tests!(|| super::Tested::new(super::TEXTS));
}

trait Storage: CourseStorage + CredentialStorage + SignInStorage + AdminStorage {}

impl<S: CourseStorage + CredentialStorage + SignInStorage + AdminStorage> Storage for S {}

/// A storage over views, or a memory storage if PostgreSQL is missing, which `Cluster::shared` logs.
struct Tested {
    storage: Arc<dyn Storage>,
    host_app: Option<HostApp>,
    /// Names and email addresses of accounts: the suite of sign-ins compares them, but views lack them.
    accounts: Mutex<HashMap<AccountId, Account>>,
}

impl Tested {
    async fn new(tables: &str) -> Self {
        let host_app = HostApp::new(tables).await;
        let storage: Arc<dyn Storage> = match &host_app {
            Some(host_app) => Arc::new(host_app.storage.clone()),
            None => Arc::new(MemoryStorage::new()),
        };
        Self { storage, host_app, accounts: Mutex::default() }
    }

    fn with_name(&self, account: Account) -> Account {
        if self.host_app.is_none() {
            return account;
        }
        assert!(account.name.is_empty() && account.email.is_empty(), "{account:?}");
        self.accounts.lock().unwrap().get(&account.id).cloned().unwrap_or(account)
    }
}

impl fmt::Debug for Tested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.storage.fmt(f)
    }
}

impl Fixture for Tested {
    async fn account(&self, name: &str) -> AccountId {
        match &self.host_app {
            Some(host_app) if host_app.has_numeric_ids => AccountId::new(host_app.owner(name).await),
            _ => AccountId::new(name),
        }
    }
}

impl CourseFixture for Tested {
    type Storage = Arc<dyn Storage>;

    fn storage(&self) -> &Self::Storage {
        &self.storage
    }

    async fn put_course(&self, course: &Course) {
        self.put_courses(slice::from_ref(course)).await;
    }

    async fn put_courses(&self, courses: &[Course]) {
        match &self.host_app {
            Some(host_app) => host_app.put_courses(courses).await,
            None => CourseFixture::put_courses(&self.storage, courses).await,
        }
    }

    async fn remove_course(&self, account: &AccountId, slug: &str) {
        match &self.host_app {
            Some(host_app) => host_app.remove_course(account, slug).await,
            None => CourseFixture::remove_course(&self.storage, account, slug).await,
        }
    }

    fn accepts_slug(&self, slug: &str) -> bool {
        !slug.contains('\0')
    }

    /// Removes NUL, which PostgreSQL texts cannot contain, and bodies, which the views lack.
    fn strip_unsupported(&self, course: &mut Course) {
        let Course { title, tagline, language, access_mode, modules, .. } = course;
        for text in [title, tagline, language].into_iter().chain(access_mode) {
            *text = text.replace('\0', "");
        }
        for module in modules {
            module.content.clear();
            for text in [&mut module.title, &mut module.summary] {
                *text = text.replace('\0', "");
            }
        }
    }
}

impl CredentialFixture for Tested {
    type Storage = Arc<dyn Storage>;

    fn storage(&self) -> &Self::Storage {
        &self.storage
    }

    async fn put_credential(&self, credential: &NewCredential) {
        let mut created = self.storage.create_key(credential, &Actor::OPERATOR).await;
        if created.as_ref().is_err_and(|error| error.kind() == StorageErrorKind::UnknownReference) {
            let id = credential.record.identity.account.clone();
            self.put_account(&Account { id, name: String::new(), email: String::new() }).await;
            created = self.storage.create_key(credential, &Actor::OPERATOR).await;
        }
        created.unwrap();
    }

    async fn revoke_credential(&self, id: &str, at: Timestamp) {
        CredentialFixture::revoke_credential(&self.storage, id, at).await;
    }

    async fn revoke_token(&self, digest: &TokenDigest, expires_at: Timestamp) {
        CredentialFixture::revoke_token(&self.storage, digest, expires_at).await;
    }
}

impl AccountFixture for Tested {
    async fn put_account(&self, account: &Account) {
        self.accounts.lock().unwrap().insert(account.id.clone(), account.clone());
        match &self.host_app {
            // `Fixture::account` has created the account with its numeric id.
            Some(host_app) if host_app.has_numeric_ids => {}
            Some(host_app) => drop(host_app.owner(account.id.as_str()).await),
            None => AccountFixture::put_account(&self.storage, account).await,
        }
    }

    async fn remove_account(&self, account: &AccountId) {
        match &self.host_app {
            Some(host_app) => host_app.remove_account(account).await,
            None => AccountFixture::remove_account(&self.storage, account).await,
        }
    }
}

impl SignInFixture for Tested {
    type Storage = Self;

    fn storage(&self) -> &Self {
        self
    }

    async fn events(&self, account: &AccountId) -> Vec<CredentialEvent> {
        self.storage.list_events(account, usize::MAX).await.unwrap()
    }
}

#[async_trait]
impl SignInStorage for Tested {
    async fn create_link(&self, link: &NewSignIn, by: &Actor) -> Result<(), StorageError> {
        self.storage.create_link(link, by).await
    }

    async fn exchange_link(
        &self,
        link: &TokenDigest,
        now: Timestamp,
        session: &NewSession,
    ) -> Result<Option<Account>, StorageError> {
        Ok(self.storage.exchange_link(link, now, session).await?.map(|account| self.with_name(account)))
    }

    async fn find_session(&self, digest: &TokenDigest) -> Result<Option<Session>, StorageError> {
        let found = self.storage.find_session(digest).await?;
        Ok(found.map(|session| Session { account: self.with_name(session.account), ..session }))
    }

    async fn end_session(&self, digest: &TokenDigest) -> Result<(), StorageError> {
        self.storage.end_session(digest).await
    }

    async fn end_sign_ins(&self, account: &AccountId, by: &Actor) -> Result<u64, StorageError> {
        self.storage.end_sign_ins(account, by).await
    }
}

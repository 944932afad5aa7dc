//! Fixture of the conformance suites over views: only the host application writes courses and accounts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::{fmt, slice};

use catalogue_core::admin::{Account, NewCredential};
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::{
    Actor, CredentialEvent, KeyStorage, MemoryStorage, NewSession, NewSignIn, Session, SignInStorage, StorageError,
    StorageErrorKind,
};
use catalogue_core::{AccountId, Course, CourseModule, Timestamp, async_trait};
use catalogue_storage_conformance::{
    AccountFixture, CourseFixture, CredentialFixture, Fixture, SignInFixture, Storage, sample,
};

use super::{HostApp, rows};

/// A storage over views of a host application, or a memory storage if the database is missing.
pub struct OverViews<H> {
    app: Option<H>,
    storage: Arc<dyn Storage>,
    /// Names and email addresses of accounts: the suite of sign-ins compares them, but views lack them.
    accounts: Mutex<HashMap<AccountId, Account>>,
}

impl<H: HostApp> OverViews<H> {
    /// Creates the host application's tables.
    pub async fn new(kind: H::Kind) -> Self {
        let app = H::new(kind).await;
        let storage: Arc<dyn Storage> = match &app {
            Some(app) => Arc::new(app.storage().clone()),
            None => Arc::new(MemoryStorage::new()),
        };
        Self { app, storage, accounts: Mutex::default() }
    }

    fn with_name(&self, account: Account) -> Account {
        if self.app.is_none() {
            return account;
        }
        assert!(account.name.is_empty() && account.email.is_empty(), "{account:?}");
        self.accounts.lock().unwrap().get(&account.id).cloned().unwrap_or(account)
    }
}

impl<H> fmt::Debug for OverViews<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.storage.fmt(f)
    }
}

impl<H: HostApp> Fixture for OverViews<H> {
    async fn account(&self, name: &str) -> AccountId {
        match &self.app {
            Some(app) => app.account(name).await,
            None => AccountId::new(name),
        }
    }

    fn reads_may_be_blocked(&self) -> bool {
        self.app.as_ref().is_some_and(HostApp::reads_may_be_blocked)
    }
}

impl<H: HostApp> CourseFixture for OverViews<H> {
    type Storage = Arc<dyn Storage>;

    fn storage(&self) -> &Self::Storage {
        &self.storage
    }

    async fn put_course(&self, course: &Course) {
        self.put_courses(slice::from_ref(course)).await;
    }

    async fn put_courses(&self, courses: &[Course]) {
        match &self.app {
            Some(app) => app.put_courses(courses).await,
            None => CourseFixture::put_courses(&self.storage, courses).await,
        }
    }

    async fn remove_course(&self, account: &AccountId, slug: &str) {
        match &self.app {
            Some(app) => app.remove_course(account, slug).await,
            None => CourseFixture::remove_course(&self.storage, account, slug).await,
        }
    }

    async fn put_module(&self, account: &AccountId, slug: &str, number: u32, module: Option<&CourseModule>) -> bool {
        let Some(app) = &self.app else { return false };
        app.execute(&rows::put_module(app, account, slug, number, module)).await;
        true
    }

    fn has_per_account_revisions(&self) -> bool {
        self.app.as_ref().is_none_or(HostApp::has_per_account_revisions)
    }

    fn accepts_slug(&self, slug: &str) -> bool {
        H::ACCEPTS_NUL || !slug.contains('\0')
    }

    fn strip_unsupported(&self, course: &mut Course) {
        let Course { title, tagline, language, access_mode, modules, .. } = course;
        let texts = [title, tagline, language].into_iter().chain(access_mode);
        let modules = modules.iter_mut().flat_map(|module| {
            // The views have no bodies.
            module.content.clear();
            [&mut module.title, &mut module.summary]
        });
        for text in texts.chain(modules).filter(|_| !H::ACCEPTS_NUL) {
            *text = text.replace('\0', "");
        }
    }
}

impl<H: HostApp> CredentialFixture for OverViews<H> {
    type Storage = Arc<dyn Storage>;

    fn storage(&self) -> &Self::Storage {
        &self.storage
    }

    async fn put_credential(&self, credential: &NewCredential) {
        let mut created = self.storage.create_key(credential, &Actor::OPERATOR).await;
        if created.as_ref().is_err_and(|error| error.kind() == StorageErrorKind::UnknownReference) {
            self.put_account(&sample::account(credential.record.identity.account.as_str())).await;
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

impl<H: HostApp> AccountFixture for OverViews<H> {
    async fn put_account(&self, account: &Account) {
        self.accounts.lock().unwrap().insert(account.id.clone(), account.clone());
        match &self.app {
            Some(app) => app.execute(&app.insert_owner(&account.id)).await,
            None => AccountFixture::put_account(&self.storage, account).await,
        }
    }

    /// Removes the owner and the account's events; keys and sign-ins stay.
    async fn remove_account(&self, account: &AccountId) {
        match &self.app {
            Some(app) => {
                app.execute(&format!("DELETE FROM owners WHERE id = {}", app.owner(account))).await;
                app.remove_events(account).await;
            }
            None => AccountFixture::remove_account(&self.storage, account).await,
        }
    }
}

impl<H: HostApp> SignInFixture for OverViews<H> {
    type Storage = Self;

    fn storage(&self) -> &Self {
        self
    }

    async fn events(&self, account: &AccountId) -> Vec<CredentialEvent> {
        self.storage.list_events(account, usize::MAX).await.unwrap()
    }
}

#[async_trait]
impl<H: HostApp> SignInStorage for OverViews<H> {
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

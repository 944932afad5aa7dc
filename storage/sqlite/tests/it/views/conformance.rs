//! The storage suite over views: reading, keys and sign-ins.

use std::collections::HashMap;
use std::sync::Mutex;

use catalogue_core::admin::{Account, AdminStorage, NewCredential};
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::{
    Actor, CredentialEvent, KeyStorage, NewSession, NewSignIn, Session, SignInStorage, StorageError,
};
use catalogue_core::{AccountId, Course, Timestamp, async_trait};
use catalogue_sqlite::SqliteStorage;
use catalogue_storage_conformance::{AccountFixture, CourseFixture, CredentialFixture, Fixture, SignInFixture};
use rusqlite::Connection;

use super::host_app::{HostApp, Kind, PLAIN, Times};

mod space_separated_times {
    catalogue_storage_conformance::course_and_credential_storage_tests!(|| async { super::HostApp::new(super::PLAIN) });
}

mod numbers {
    catalogue_storage_conformance::course_and_credential_storage_tests!(|| async {
        super::HostApp::new(super::Kind { times: super::Times::Microseconds, ..super::PLAIN })
    });
}

mod rfc_3339_with_revisions {
    catalogue_storage_conformance::course_and_credential_storage_tests!(|| async {
        super::HostApp::new(super::Kind { times: super::Times::Rfc3339, has_revisions: true, ..super::PLAIN })
    });
}

mod mixed_times_with_rollback_journal {
    catalogue_storage_conformance::course_and_credential_storage_tests!(|| async {
        super::HostApp::new(super::Kind { times: super::Times::Mixed, journal_mode: "delete", ..super::PLAIN })
    });
}

mod keys {
    catalogue_storage_conformance::key_storage_tests!(|| async { super::HostApp::new(super::PLAIN) });
}

mod sign_ins {
    catalogue_storage_conformance::sign_in_storage_tests!(|| async { super::NamedHostApp::new(super::PLAIN) });
}

impl Fixture for HostApp {
    fn reads_may_be_blocked(&self) -> bool {
        self.kind.journal_mode == "delete"
    }
}

impl CourseFixture for HostApp {
    type Storage = SqliteStorage;

    fn storage(&self) -> &SqliteStorage {
        &self.storage
    }

    async fn put_course(&self, course: &Course) {
        self.put(std::slice::from_ref(course));
    }

    async fn put_courses(&self, courses: &[Course]) {
        self.put(courses);
    }

    fn has_per_account_revisions(&self) -> bool {
        self.kind.has_revisions
    }

    async fn remove_course(&self, account: &AccountId, slug: &str) {
        self.write(|transaction| assert_eq!(self.remove_one(transaction, account.as_str(), slug), 1));
    }
}

impl CredentialFixture for HostApp {
    type Storage = SqliteStorage;

    fn storage(&self) -> &SqliteStorage {
        &self.storage
    }

    async fn put_credential(&self, credential: &NewCredential) {
        self.put_person(credential.record.identity.account.as_str());
        self.storage.create_key(credential, &Actor::OPERATOR).await.unwrap();
    }

    async fn revoke_credential(&self, id: &str, at: Timestamp) {
        let record = self.storage.find_credential_record(id).await.unwrap().unwrap();
        self.storage.revoke_key(&record.identity.account, id, at, &Actor::OPERATOR).await.unwrap().unwrap();
    }

    async fn revoke_token(&self, digest: &TokenDigest, expires_at: Timestamp) {
        let now = Timestamp::from_microseconds(0).unwrap();
        self.storage.revoke_tokens(&[*digest], expires_at, now).await.unwrap();
    }
}

impl AccountFixture for HostApp {
    async fn put_account(&self, account: &Account) {
        self.put_person(account.id.as_str());
    }

    /// Removes the person in the host application, and events by plain SQL; keys and sign-ins stay.
    async fn remove_account(&self, account: &AccountId) {
        self.write(|transaction| {
            assert_eq!(transaction.execute("DELETE FROM people WHERE login = ?1", [account.as_str()]), Ok(1));
        });
        let keys = Connection::open(self.keys()).unwrap();
        keys.execute("DELETE FROM credential_events WHERE account_id = ?1", [account.as_str()]).unwrap();
    }
}

/// A [`HostApp`] that remembers names and email addresses: the suite of sign-ins compares them, but views do not have them.
struct NamedHostApp {
    host_app: HostApp,
    storage: WithNames,
}

#[derive(Debug)]
struct WithNames(SqliteStorage, Mutex<HashMap<AccountId, Account>>);

impl WithNames {
    fn named(&self, account: Account) -> Account {
        assert!(account.name.is_empty() && account.email.is_empty(), "{account:?}");
        self.1.lock().unwrap().get(&account.id).cloned().unwrap_or(account)
    }
}

impl NamedHostApp {
    fn new(kind: Kind) -> Self {
        let host_app = HostApp::new(kind);
        let storage = WithNames(host_app.storage.clone(), Mutex::default());
        Self { host_app, storage }
    }
}

#[async_trait]
impl SignInStorage for WithNames {
    async fn create_link(&self, link: &NewSignIn, by: &Actor) -> Result<(), StorageError> {
        self.0.create_link(link, by).await
    }

    async fn exchange_link(
        &self,
        link: &TokenDigest,
        now: Timestamp,
        session: &NewSession,
    ) -> Result<Option<Account>, StorageError> {
        Ok(self.0.exchange_link(link, now, session).await?.map(|account| self.named(account)))
    }

    async fn find_session(&self, digest: &TokenDigest) -> Result<Option<Session>, StorageError> {
        let found = self.0.find_session(digest).await?;
        Ok(found.map(|session| Session { account: self.named(session.account), ..session }))
    }

    async fn end_session(&self, digest: &TokenDigest) -> Result<(), StorageError> {
        self.0.end_session(digest).await
    }

    async fn end_sign_ins(&self, account: &AccountId, by: &Actor) -> Result<u64, StorageError> {
        self.0.end_sign_ins(account, by).await
    }
}

impl Fixture for NamedHostApp {}

impl AccountFixture for NamedHostApp {
    async fn put_account(&self, account: &Account) {
        self.storage.1.lock().unwrap().insert(account.id.clone(), account.clone());
        self.host_app.put_account(account).await;
    }

    async fn remove_account(&self, account: &AccountId) {
        self.host_app.remove_account(account).await;
    }
}

impl SignInFixture for NamedHostApp {
    type Storage = WithNames;

    fn storage(&self) -> &WithNames {
        &self.storage
    }

    async fn events(&self, account: &AccountId) -> Vec<CredentialEvent> {
        self.host_app.storage.list_events(account, usize::MAX).await.unwrap()
    }
}

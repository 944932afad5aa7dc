//! What a host writes to have its storage tested: how the suite puts data into the host's tables.

use std::future::{Future, ready};

use catalogue_core::{
    AccountId, AdminStorage, Change, Course, CourseStorage, CredentialStorage, NewCredential, StorageErrorKind,
    Timestamp,
};

use crate::Storage;
use crate::limits::{CourseLimits, CredentialLimits};
use crate::seed::account;

/// A storage of courses, and how to fill its tables: what [`course_storage_tests!`](crate::course_storage_tests) runs on.
///
/// The methods that return a future are best written as `async fn`. They panic where they cannot do their work, which
/// fails the test. Each write is committed when its future ends.
///
/// Every storage that is an [`AdminStorage`] too has this trait already.
pub trait CourseFixture: Sync {
    /// The storage under test.
    type Storage: CourseStorage;

    /// The storage under test, over the tables that the other methods write.
    fn storage(&self) -> &Self::Storage;

    /// Puts a course with its modules in one transaction, in place of the one with its account and slug if there is one.
    /// An account that is not there yet is added.
    fn put_course(&self, course: &Course) -> impl Future<Output = ()>;

    /// Removes the course with that account and slug, which is there.
    fn remove_course(&self, account: &AccountId, slug: &str) -> impl Future<Output = ()>;

    /// Puts courses one after the other. Worth writing where one transaction for all of them is much quicker.
    fn put_courses(&self, courses: &[Course]) -> impl Future<Output = ()> {
        async move {
            for course in courses {
                self.put_course(course).await;
            }
        }
    }

    /// The id of the account that the cases call `name`. Worth writing where ids are no free texts, such as numbers.
    ///
    /// The same name has the same id throughout, and two names never share one.
    fn account(&self, name: &str) -> impl Future<Output = AccountId> {
        ready(AccountId::new(name))
    }

    /// What the tables cannot hold. Nothing unless the host says so.
    fn limits(&self) -> CourseLimits {
        CourseLimits::NONE
    }
}

/// A storage of credentials, and how to fill its table: what
/// [`credential_storage_tests!`](crate::credential_storage_tests) runs on.
///
/// It is written like a [`CourseFixture`], and every storage that is an [`AdminStorage`] too has it already.
pub trait CredentialFixture: Sync {
    /// The storage under test.
    type Storage: CredentialStorage;

    /// The storage under test, over the table that the other methods write.
    fn storage(&self) -> &Self::Storage;

    /// Adds a credential. An account that is not there yet is added.
    fn put_credential(&self, credential: &NewCredential) -> impl Future<Output = ()>;

    /// Revokes the credential with that id, which is there.
    fn revoke_credential(&self, id: &str, at: Timestamp) -> impl Future<Output = ()>;

    /// The id of the account that the cases call `name`; see [`CourseFixture::account`].
    fn account(&self, name: &str) -> impl Future<Output = AccountId> {
        ready(AccountId::new(name))
    }

    /// The id of the API key that the cases call `name`. Worth writing where ids are no free texts, such as numbers.
    ///
    /// The same name has the same id throughout, and two names never share one.
    fn key(&self, name: &str) -> impl Future<Output = String> {
        ready(name.to_owned())
    }

    /// What the table cannot hold. Nothing unless the host says so.
    fn limits(&self) -> CredentialLimits {
        CredentialLimits::NONE
    }
}

impl<S: Storage> CourseFixture for S {
    type Storage = S;

    fn storage(&self) -> &S {
        self
    }

    async fn put_course(&self, course: &Course) {
        self.put_courses(std::slice::from_ref(course)).await;
    }

    async fn remove_course(&self, account: &AccountId, slug: &str) {
        let there = AdminStorage::remove_course(self, account, slug).await.expect("a course can be removed");
        assert!(there, "Removing a course that is there says so.");
    }

    /// One import.
    async fn put_courses(&self, courses: &[Course]) {
        let mut import = self.begin_import().await.expect("an import begins while no other runs");
        for course in courses {
            import.put_account(&account(course.account.as_str())).await.expect("an account can be put");
            let change = import.put_course(course).await;
            let change = change.expect("a course can be put after its account in the same import");
            assert_ne!(change, Change::Repeated, "A course that an import puts for the first time is not repeated.");
        }
        import.commit().await.expect("an import can be committed");
    }
}

impl<S: Storage> CredentialFixture for S {
    type Storage = S;

    fn storage(&self) -> &S {
        self
    }

    async fn put_credential(&self, credential: &NewCredential) {
        let mut created = self.create_credential(credential).await;
        if created.as_ref().is_err_and(|error| error.kind() == StorageErrorKind::UnknownReference) {
            let mut import = self.begin_import().await.expect("an import begins while no other runs");
            let account = account(credential.record.identity.account.as_str());
            import.put_account(&account).await.expect("an account can be put");
            import.commit().await.expect("an import can be committed");
            created = self.create_credential(credential).await;
        }
        created.expect("a credential of a known account can be stored");
    }

    async fn revoke_credential(&self, id: &str, at: Timestamp) {
        let revoked = AdminStorage::revoke_credential(self, id, at).await.expect("a credential can be revoked");
        assert!(revoked.is_some(), "Revoking a credential returns its record, revoked.");
    }
}

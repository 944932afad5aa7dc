//! Traits that a host application implements to have its storage tested: they put the suite's data into its tables.

use std::future::{Future, ready};

use catalogue_core::admin::{Account, AdminStorage, Change, NewCredential, Record};
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::{
    Actor, CourseStorage, CredentialEvent, CredentialStorage, KeyStorage, SignInStorage, StorageErrorKind,
};
use catalogue_core::{AccountId, Course, CourseModule, Timestamp};

use crate::Storage;
use crate::reading::export;
use crate::seed::{account, begin, import, instant, seed_accounts};

/// Precision of times in a host application's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Precision {
    /// To the microsecond, like [`Timestamp`].
    Microseconds,
    /// To the millisecond.
    Milliseconds,
    /// To the second.
    Seconds,
}

impl Precision {
    /// Returns the time as the tables store it: truncated to a multiple of their unit.
    pub(crate) fn truncate(self, time: Timestamp) -> Timestamp {
        let unit = match self {
            Self::Microseconds => 1,
            Self::Milliseconds => 1_000,
            Self::Seconds => 1_000_000,
        };
        let truncated = time.as_microseconds().div_euclid(unit) * unit;
        Timestamp::from_microseconds(truncated).expect("the year 0000 begins with a whole second")
    }
}

/// Properties of all tables of a host application. The defaults are for text ids, and times to the microsecond.
pub trait Fixture: Sync {
    /// Returns the id of the account that the cases call `name`. Implement it if ids are not free text but, say, numbers.
    ///
    /// A name always has the same id, and two names never share one. Only map the name, and do not create the account: some
    /// cases expect that it does not exist until they put it.
    fn account(&self, name: &str) -> impl Future<Output = AccountId> {
        ready(AccountId::new(name))
    }

    /// Returns the precision of times in the tables. Cases write times truncated to it, and expect the truncated times back.
    fn precision(&self) -> Precision {
        Precision::Microseconds
    }

    /// Returns whether a read may fail as [`Busy`](StorageErrorKind::Busy) because another program's write takes
    /// longer than the read waits, as in an SQLite file without a WAL. A case then retries, as a client does.
    fn reads_may_be_blocked(&self) -> bool {
        false
    }
}

/// A storage of courses, and how to fill its tables: [`course_storage_tests!`](crate::course_storage_tests) runs on it.
///
/// Implement the methods that return a future as `async fn`. They must panic if they fail, and commit before they return.
/// Every [`Storage`] implements this trait already.
pub trait CourseFixture: Fixture {
    /// The storage under test.
    type Storage: CourseStorage;

    /// Returns the storage under test, over the tables that the other methods write.
    fn storage(&self) -> &Self::Storage;

    /// Puts a course with its modules, and its account, in one transaction; replaces a course with the same account and slug.
    /// If revisions are replaced by triggers, use an `UPDATE` for an existing course, so that its trigger is tested.
    fn put_course(&self, course: &Course) -> impl Future<Output = ()>;

    /// Removes the existing course with this account and slug.
    fn remove_course(&self, account: &AccountId, slug: &str) -> impl Future<Output = ()>;

    /// Puts courses one after the other. Override it if one transaction for all of them is much faster.
    fn put_courses(&self, courses: &[Course]) -> impl Future<Output = ()> {
        async move {
            for course in courses {
                self.put_course(course).await;
            }
        }
    }

    /// Adds, changes or, if `module` is `None`, removes module `number` of an existing course, and writes nothing else. Returns
    /// `false`, the default, if the fixture cannot: its case is skipped.
    ///
    /// Implement it with `INSERT`, `UPDATE` and `DELETE` if the storage has revisions and modules have a separate table:
    /// [`put_course`](Self::put_course) also writes the course, so it cannot detect that this table has no triggers.
    fn put_module(
        &self,
        account: &AccountId,
        slug: &str,
        number: u32,
        module: Option<&CourseModule>,
    ) -> impl Future<Output = bool> {
        let _ = (account, slug, number, module);
        ready(false)
    }

    /// Returns whether the tables accept the slug. They must accept up to 32 lower-case ASCII letters and digits with single
    /// hyphens between them, which most cases use. Reads may name any other slug, and must find nothing.
    fn accepts_slug(&self, slug: &str) -> bool {
        let _ = slug;
        true
    }

    /// Returns whether a change to one account's courses leaves the revisions of other accounts unchanged, as it should.
    /// Return `false` if the storage can only detect that something has changed.
    fn has_per_account_revisions(&self) -> bool {
        true
    }

    /// Removes from a course what the tables cannot store, such as its tagline, its access mode or the bodies of its modules.
    /// A case writes the rest, and expects it back.
    fn strip_unsupported(&self, course: &mut Course) {
        let _ = course;
    }
}

/// A storage of credentials, and how to fill its table: [`credential_storage_tests!`](crate::credential_storage_tests) runs on
/// it. Implement it like a [`CourseFixture`]; the [crate's documentation](crate#fixture-of-credentials) has an example.
pub trait CredentialFixture: Fixture {
    /// The storage under test.
    type Storage: CredentialStorage;

    /// Returns the storage under test, over the table that the other methods write.
    fn storage(&self) -> &Self::Storage;

    /// Adds a credential, and its account if it does not exist. Its ids are those of [`Fixture::account`] and [`key`](Self::key).
    fn put_credential(&self, credential: &NewCredential) -> impl Future<Output = ()>;

    /// Revokes the existing credential `id`.
    fn revoke_credential(&self, id: &str, at: Timestamp) -> impl Future<Output = ()>;

    /// Revokes the signed token with this digest, which expires at `expires_at`. Implement it if the storage supports
    /// revocations of signed tokens ([`CredentialStorage::is_revoked`]).
    fn revoke_token(&self, digest: &TokenDigest, expires_at: Timestamp) -> impl Future<Output = ()> {
        let _ = (digest, expires_at);
        ready(())
    }

    /// Returns the id of the API key that the cases call `name`, like [`Fixture::account`] for accounts.
    fn key(&self, name: &str) -> impl Future<Output = String> {
        ready(name.to_owned())
    }

    /// Returns whether there are OAuth tokens in addition to API keys.
    fn has_oauth_tokens(&self) -> bool {
        true
    }
}

/// Writes to the table of accounts. Implement it like a [`CourseFixture`].
pub trait AccountFixture: Fixture {
    /// Adds an account, or updates the name and email of the one with its id.
    fn put_account(&self, account: &Account) -> impl Future<Output = ()>;

    /// Removes an existing account with its keys, links, sessions and events.
    fn remove_account(&self, account: &AccountId) -> impl Future<Output = ()>;
}

/// A storage of keys, and how to fill its tables: [`key_storage_tests!`](crate::key_storage_tests) runs on it. Implemented for
/// every type with both of its supertraits.
pub trait KeyFixture: CredentialFixture<Storage: KeyStorage> + AccountFixture {}

impl<F: CredentialFixture<Storage: KeyStorage> + AccountFixture> KeyFixture for F {}

/// A storage of sign-in links and sessions, and how to fill its tables:
/// [`sign_in_storage_tests!`](crate::sign_in_storage_tests) runs on it.
pub trait SignInFixture: AccountFixture {
    /// The storage under test.
    type Storage: SignInStorage;

    /// Returns the storage under test, over the tables that the other methods write.
    fn storage(&self) -> &Self::Storage;

    /// Returns the account's events, newest first, like [`KeyStorage::list_events`].
    fn events(&self, account: &AccountId) -> impl Future<Output = Vec<CredentialEvent>>;
}

impl<S: Storage> Fixture for S {}

impl<S: Storage> CourseFixture for S {
    type Storage = S;

    fn storage(&self) -> &S {
        self
    }

    async fn put_course(&self, course: &Course) {
        self.put_courses(std::slice::from_ref(course)).await;
    }

    async fn remove_course(&self, account: &AccountId, slug: &str) {
        let existed = AdminStorage::remove_course(self, account, slug).await.expect("a course can be removed");
        assert!(existed, "Removing an existing course returns true.");
    }

    /// Puts all courses in one import.
    async fn put_courses(&self, courses: &[Course]) {
        let mut import = begin(self).await;
        for course in courses {
            import.put_account(&account(course.account.as_str())).await.expect("an account can be put");
            let change = import.put_course(course).await;
            let change = change.expect("a course can be put after its account in the same import");
            assert_ne!(change, Change::Repeated, "A course that an import puts for the first time is not repeated.");
        }
        import.commit().await.expect("an import can be committed");
    }

    /// Puts the whole course again, without its account.
    async fn put_module(&self, account: &AccountId, slug: &str, number: u32, module: Option<&CourseModule>) -> bool {
        for record in export(self).await {
            if let Record::Course(mut course) = record
                && course.account == *account
                && course.slug == slug
            {
                let number = number as usize;
                course.modules.splice(number - 1..number.min(course.modules.len()), module.cloned());
                import(self, [], [&course]).await;
            }
        }
        true
    }
}

impl<S: Storage> CredentialFixture for S {
    type Storage = S;

    fn storage(&self) -> &S {
        self
    }

    async fn put_credential(&self, credential: &NewCredential) {
        let mut created = self.create_key(credential, &Actor::OPERATOR).await;
        if created.as_ref().is_err_and(|error| error.kind() == StorageErrorKind::UnknownReference) {
            seed_accounts(self, &[credential.record.identity.account.as_str()]).await;
            created = self.create_key(credential, &Actor::OPERATOR).await;
        }
        created.expect("a credential of a known account can be stored");
    }

    async fn revoke_credential(&self, id: &str, at: Timestamp) {
        let record = self.find_credential_record(id).await.expect("a record can be found").expect("the record exists");
        let revoked = self.revoke_key(&record.identity.account, id, at, &Actor::OPERATOR).await;
        let revoked = revoked.expect("a credential can be revoked");
        assert!(revoked.is_some(), "Revoking a credential returns its record, revoked.");
    }

    async fn revoke_token(&self, digest: &TokenDigest, expires_at: Timestamp) {
        self.revoke_tokens(&[*digest], expires_at, instant(0)).await.expect("a signed token can be revoked");
    }
}

impl<S: Storage> AccountFixture for S {
    async fn put_account(&self, account: &Account) {
        import(self, [account], []).await;
    }

    async fn remove_account(&self, account: &AccountId) {
        let removed = AdminStorage::remove_account(self, account).await.expect("an account can be removed");
        assert!(removed.is_some(), "Removing an existing account returns the removed counts.");
    }
}

impl<S: Storage> SignInFixture for S {
    type Storage = S;

    fn storage(&self) -> &S {
        self
    }

    async fn events(&self, account: &AccountId) -> Vec<CredentialEvent> {
        self.list_events(account, usize::MAX).await.expect("events can be listed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precision_truncates_times_toward_the_past() {
        for (precision, unit) in
            [(Precision::Microseconds, 1), (Precision::Milliseconds, 1_000), (Precision::Seconds, 1_000_000)]
        {
            for (time, truncated) in [(0, 0), (unit - 1, 0), (unit, unit), (-1, -unit), (-unit, -unit)] {
                let [time, truncated] = [time, truncated].map(|time| Timestamp::from_microseconds(time).unwrap());
                assert_eq!(precision.truncate(time), truncated, "{precision:?}");
            }
            assert_eq!(precision.truncate(Timestamp::MIN), Timestamp::MIN);
        }
    }
}

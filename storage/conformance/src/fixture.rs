//! What a host writes to have its storage tested: how the suite puts data into the host's tables.

use std::future::{Future, ready};

use catalogue_core::admin::{Account, AdminStorage, Change, NewCredential};
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::{
    Actor, CourseStorage, CredentialEvent, CredentialStorage, KeyStorage, SignInStorage, StorageErrorKind,
};
use catalogue_core::{AccountId, Course, Timestamp};

use crate::Storage;
use crate::seed::{account, instant, seed_accounts};

/// How finely a host's tables keep times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Precision {
    /// To the microsecond, as the API does.
    Microseconds,
    /// To the millisecond.
    Milliseconds,
    /// To the second.
    Seconds,
}

impl Precision {
    /// The time as the tables keep it: cut to a whole number of their units.
    pub(crate) fn kept(self, time: Timestamp) -> Timestamp {
        let unit = match self {
            Self::Microseconds => 1,
            Self::Milliseconds => 1_000,
            Self::Seconds => 1_000_000,
        };
        let kept = time.as_microseconds().div_euclid(unit) * unit;
        Timestamp::from_microseconds(kept).expect("the year 0000 begins with a whole second")
    }
}

/// What holds for all tables of a host. The defaults are for ids that are free texts, and times to the microsecond.
pub trait Fixture: Sync {
    /// The id of the account that the cases call `name`. Worth writing where ids are no free texts, such as numbers.
    ///
    /// The same name has the same id throughout, and two names never share one.
    fn account(&self, name: &str) -> impl Future<Output = AccountId> {
        ready(AccountId::new(name))
    }

    /// How finely the tables keep times. A case puts what it puts with its times cut to that, and expects them back.
    fn precision(&self) -> Precision {
        Precision::Microseconds
    }

    /// Whether a read may fail as [`Unavailable`](StorageErrorKind::Unavailable) because another program's write takes longer
    /// than the read waits, as over an SQLite file without a WAL. A case then reads again, as a client does.
    fn may_lock_reads_out(&self) -> bool {
        false
    }
}

/// A storage of courses, and how to fill its tables: what [`course_storage_tests!`](crate::course_storage_tests) runs on.
///
/// The methods that return a future are best written as `async fn`. They panic where they cannot do their work. Each write
/// is committed when its future ends. Every storage that is an [`AdminStorage`] too has this trait already.
pub trait CourseFixture: Fixture {
    /// The storage under test.
    type Storage: CourseStorage;

    /// The storage under test, over the tables that the other methods write.
    fn storage(&self) -> &Self::Storage;

    /// Puts a course with its modules, and its account, in one transaction, in place of one that has its account and slug.
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

    /// Whether a course can have that slug. Up to 32 lower-case ASCII letters and digits, with single hyphens between them,
    /// are the least; most cases need no more. Any other slug may be asked for, and finds nothing.
    fn holds_slug(&self, slug: &str) -> bool {
        let _ = slug;
        true
    }

    /// Whether a change to one account's courses leaves the revisions of the others, as it should. It does not where all that
    /// the storage can tell is whether anything has changed.
    fn keeps_revisions_apart(&self) -> bool {
        true
    }

    /// Takes from a course what the tables have no room for, such as its tagline, its access mode or the bodies of its
    /// modules. A case puts what is left, and expects that back.
    fn forget(&self, course: &mut Course) {
        let _ = course;
    }
}

/// A storage of credentials, and how to fill its table: what
/// [`credential_storage_tests!`](crate::credential_storage_tests) runs on. It is written like a [`CourseFixture`].
pub trait CredentialFixture: Fixture {
    /// The storage under test.
    type Storage: CredentialStorage;

    /// The storage under test, over the table that the other methods write.
    fn storage(&self) -> &Self::Storage;

    /// Adds a credential. An account that is not there yet is added.
    fn put_credential(&self, credential: &NewCredential) -> impl Future<Output = ()>;

    /// Revokes the credential with that id, which is there.
    fn revoke_credential(&self, id: &str, at: Timestamp) -> impl Future<Output = ()>;

    /// Revokes the signed token with that digest, which expires then. Worth writing where the storage says of signed tokens
    /// whether they are revoked ([`CredentialStorage::is_revoked`]).
    fn revoke_token(&self, digest: &TokenDigest, expires_at: Timestamp) -> impl Future<Output = ()> {
        let _ = (digest, expires_at);
        ready(())
    }

    /// The id of the API key that the cases call `name`, as [`Fixture::account`] is that of an account.
    fn key(&self, name: &str) -> impl Future<Output = String> {
        ready(name.to_owned())
    }

    /// Whether there are OAuth tokens beside API keys.
    fn has_oauth_tokens(&self) -> bool {
        true
    }
}

/// How to fill the table of accounts. It is written like a [`CourseFixture`].
pub trait AccountFixture: Fixture {
    /// Adds an account, or gives the one that has its id that name and email.
    fn put_account(&self, account: &Account) -> impl Future<Output = ()>;

    /// Removes the account with that id, which is there, with all that it has: keys, links, sessions and events.
    fn remove_account(&self, account: &AccountId) -> impl Future<Output = ()>;
}

/// A storage of keys, and how to fill its tables: what [`key_storage_tests!`](crate::key_storage_tests) runs on. Whatever
/// has the two traits it is made of has it already.
pub trait KeyFixture: CredentialFixture<Storage: KeyStorage> + AccountFixture {}

impl<F: CredentialFixture<Storage: KeyStorage> + AccountFixture> KeyFixture for F {}

/// A storage of sign-in links and sessions, and how to fill its tables: what
/// [`sign_in_storage_tests!`](crate::sign_in_storage_tests) runs on.
pub trait SignInFixture: AccountFixture {
    /// The storage under test.
    type Storage: SignInStorage;

    /// The storage under test, over the tables that the other methods write.
    fn storage(&self) -> &Self::Storage;

    /// The account's events, newest first, as [`KeyStorage::list_events`] shows them.
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
        let mut created = self.create_key(credential, &Actor::OPERATOR).await;
        if created.as_ref().is_err_and(|error| error.kind() == StorageErrorKind::UnknownReference) {
            seed_accounts(self, &[credential.record.identity.account.as_str()]).await;
            created = self.create_key(credential, &Actor::OPERATOR).await;
        }
        created.expect("a credential of a known account can be stored");
    }

    async fn revoke_credential(&self, id: &str, at: Timestamp) {
        let record = self.find_credential_record(id).await.expect("a record can be found").expect("it is there");
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
        let mut import = self.begin_import().await.expect("an import begins while no other runs");
        import.put_account(account).await.expect("an account can be put");
        import.commit().await.expect("an import can be committed");
    }

    async fn remove_account(&self, account: &AccountId) {
        let removed = AdminStorage::remove_account(self, account).await.expect("an account can be removed");
        assert!(removed.is_some(), "Removing an account that is there says what went.");
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
    fn a_time_is_kept_as_the_one_before_it_that_the_tables_hold() {
        for (precision, unit) in
            [(Precision::Microseconds, 1), (Precision::Milliseconds, 1_000), (Precision::Seconds, 1_000_000)]
        {
            for (time, kept) in [(0, 0), (unit - 1, 0), (unit, unit), (-1, -unit), (-unit, -unit)] {
                let [time, kept] = [time, kept].map(|time| Timestamp::from_microseconds(time).unwrap());
                assert_eq!(precision.kept(time), kept, "{precision:?}");
            }
            assert_eq!(precision.kept(Timestamp::MIN), Timestamp::MIN);
        }
    }
}

//! [`Library`]: one account's courses in an SQLite file.

use std::path::PathBuf;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use catalogue_core::{
    Account, AccountId, AdminStorage, Catalogue, ClientAddress, CredentialKind, CredentialRecord, Identity,
    LocalRateLimiter, NewCredential, NewToken, RateLimit, Scopes, StorageError, Timestamp,
};
use catalogue_sqlite::SqliteStorage;
use tempfile::TempDir;

use crate::caller::Caller;
use crate::courses::course;

/// One account's courses in an SQLite file, and a key that reads them.
#[derive(Debug)]
pub struct Library {
    storage: SqliteStorage,
    token: NewToken,
    courses: usize,
    directory: TempDir,
}

impl Library {
    /// A library of that many courses of one account.
    ///
    /// # Panics
    /// When the temporary directory or its database fails.
    #[must_use]
    pub fn with_courses(courses: usize) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let storage = SqliteStorage::open_and_migrate(directory.path().join("catalogue.db")).expect("a database");
        now(fill(&storage, courses)).expect("the courses are written");
        let token = now(grant(&storage, &Self::account())).expect("the key is written");
        Self { storage, token, courses, directory }
    }

    /// The account that has the courses.
    #[must_use]
    pub fn account() -> AccountId {
        AccountId::new("acc")
    }

    /// How many courses there are.
    #[must_use]
    pub const fn courses(&self) -> usize {
        self.courses
    }

    /// Nine tenths of the way down the list.
    #[must_use]
    pub const fn deep(&self) -> usize {
        self.courses / 10 * 9
    }

    /// The storage.
    #[must_use]
    pub const fn storage(&self) -> &SqliteStorage {
        &self.storage
    }

    /// The key.
    #[must_use]
    pub const fn token(&self) -> &NewToken {
        &self.token
    }

    /// The database's file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.directory.path().join("catalogue.db")
    }

    /// A caller whose catalogue keeps rendered answers as it does by default.
    #[must_use]
    pub fn hot(&self) -> Caller {
        Caller::new(Catalogue::with_api_keys(self.storage.clone()), self.token.expose())
    }

    /// A caller whose catalogue keeps no answer.
    #[must_use]
    pub fn cold(&self) -> Caller {
        Caller::new(Catalogue::with_api_keys(self.storage.clone()).page_cache(0), self.token.expose())
    }

    /// A caller whose requests are kept within a limit that is never reached, and whose address is known.
    ///
    /// # Panics
    /// Never: the limit is one.
    #[must_use]
    pub fn limited(&self) -> Caller {
        let limit = RateLimit::new(u32::MAX, Duration::from_secs(86_400)).expect("a limit");
        let builder = Catalogue::with_api_keys(self.storage.clone()).rate_limiter(LocalRateLimiter::new(limit));
        Caller::new(builder, self.token.expose()).at(ClientAddress([192, 0, 2, 1].into()))
    }
}

/// The value of a future that never waits, as none does over SQLite.
pub fn now<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

/// Gives an account a key that reads courses.
///
/// # Errors
/// When the storage fails, or has no such account.
pub async fn grant(storage: &SqliteStorage, account: &AccountId) -> Result<NewToken, StorageError> {
    let token = NewToken::mint(CredentialKind::ApiKey);
    let record = CredentialRecord {
        identity: Identity::api_key(account.clone(), format!("key_{account}"), Scopes::from_names(["read:courses"])),
        name: None,
        shown_prefix: token.shown_prefix().to_owned(),
        created_at: Timestamp::now(),
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
        replaced_by: None,
    };
    storage.create_credential(&NewCredential { digest: token.digest(), record }).await?;
    Ok(token)
}

async fn fill(storage: &SqliteStorage, courses: usize) -> Result<(), StorageError> {
    let account = Library::account();
    let mut import = storage.begin_import().await?;
    import.put_account(&Account { id: account.clone(), name: String::new(), email: String::new() }).await?;
    for number in 0..courses {
        import.put_course(&course(&account, number)).await?;
    }
    import.commit().await
}

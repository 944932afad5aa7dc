//! [`Data`]: a catalogue's database with two accounts, for the examples.

use std::path::PathBuf;

use catalogue_core::admin::{AdminStorage, NewCredential};
use catalogue_core::auth::{NewToken, Scopes};
use catalogue_core::storage::{Actor, KeyStorage};
use catalogue_core::{AccountId, Course, CourseModule, Timestamp};
use catalogue_sqlite::SqliteStorage;
use catalogue_storage_conformance::sample;
use tempfile::TempDir;

/// A database with the courses `one` and `two` of [`ACCOUNT`], and another account without courses.
pub(crate) struct Data {
    storage: SqliteStorage,
    directory: TempDir,
}

pub(crate) const ACCOUNT: &str = "acc_a";

impl Data {
    pub(crate) async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let storage = SqliteStorage::open_and_migrate(directory.path().join("catalogue.db")).unwrap();
        let mut import = storage.begin_import().await.unwrap();
        for id in [ACCOUNT, "acc_b"] {
            import.put_account(&sample::account(id)).await.unwrap();
        }
        for (slug, created_at) in [("one", 1), ("two", 2)] {
            import.put_course(&course(slug, created_at)).await.unwrap();
        }
        import.commit().await.unwrap();
        Self { storage, directory }
    }

    /// Returns the value for `--database`.
    pub(crate) fn database_url(&self) -> String {
        format!("sqlite:{}", self.path().display())
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("catalogue.db")
    }

    /// Creates an API key of [`ACCOUNT`].
    pub(crate) async fn key(&self) -> NewToken {
        let scopes = Scopes::from_names(["read:courses"]);
        let (token, mut key) = NewCredential::api_key(AccountId::new(ACCOUNT), "a key", scopes);
        key.record.identity.credential_id = "key_1".into();
        self.storage.create_key(&key, &Actor::OPERATOR).await.unwrap();
        token
    }

    /// Revokes the API key of [`ACCOUNT`].
    pub(crate) async fn revoke_key(&self) {
        self.storage
            .revoke_key(&AccountId::new(ACCOUNT), "key_1", Timestamp::now(), &Actor::OPERATOR)
            .await
            .unwrap()
            .unwrap();
    }
}

fn course(slug: &str, created_at: i64) -> Course {
    Course {
        title: slug.to_owned(),
        created_at: Timestamp::from_microseconds(created_at).unwrap(),
        modules: vec![CourseModule { content: "body".to_owned(), ..sample::module("m") }],
        ..sample::course(ACCOUNT, slug)
    }
}

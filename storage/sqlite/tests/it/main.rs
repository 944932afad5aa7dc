//! The storage through its public door, and its database through plain SQL.

mod integrity;
mod migrating;
mod never_stale;
mod opening;
mod plain_sql;

use std::path::PathBuf;

use catalogue_core::{Account, AccountId, AdminStorage, Course, CourseModule, NewCredential, Scopes, Timestamp};
use catalogue_sqlite::SqliteStorage;
use tempfile::TempDir;

catalogue_storage_conformance::tests!(crate::fixture);

/// An empty database in a directory of its own.
async fn fixture() -> (SqliteStorage, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open_and_migrate(database_in(&directory)).unwrap();
    (storage, directory)
}

fn database_in(directory: &TempDir) -> PathBuf {
    directory.path().join("catalogue.db")
}

/// Imports one account with one course.
async fn import_one_course(storage: &SqliteStorage) -> AccountId {
    let id = AccountId::new("acc");
    let mut import = storage.begin_import().await.unwrap();
    let account = Account { id: id.clone(), name: String::new(), email: String::new() };
    import.put_account(&account).await.unwrap();
    import.put_course(&course(&id)).await.unwrap();
    import.commit().await.unwrap();
    id
}

/// A fresh API key of that account.
async fn key_of(storage: &SqliteStorage, account: &AccountId) -> String {
    let (token, credential) = NewCredential::api_key(account.clone(), "a key", Scopes::from_names(["read:courses"]));
    storage.create_credential(&credential).await.unwrap();
    token.expose().to_owned()
}

/// A course of two modules, both with a body.
fn course(account: &AccountId) -> Course {
    let module = |title: &str| CourseModule {
        title: title.to_owned(),
        summary: String::new(),
        content: format!("the body of {title}"),
    };
    Course {
        account: account.clone(),
        slug: "course".to_owned(),
        title: "Course".to_owned(),
        tagline: String::new(),
        language: "en".to_owned(),
        created_at: Timestamp::parse("2026-01-02T03:04:05Z").unwrap(),
        published_at: None,
        hidden: false,
        access_mode: None,
        modules: vec![module("One"), module("Two")],
    }
}

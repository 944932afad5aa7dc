//! The storage through its public API, and its database through plain SQL.

mod backup;
mod failing_writes;
mod integrity;
mod last_uses;
mod locked;
mod lookup_cache;
mod never_stale;
mod opening;
mod plain_sql;
mod secure_delete;
mod views;
mod waiting;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use catalogue_core::admin::{Account, AdminStorage, NewCredential};
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{Actor, CourseRow, CourseRows, CourseStorage, KeyStorage, PageRequest, StorageError};
use catalogue_core::{AccountId, Course, CourseListItem, CourseModule};
use catalogue_sqlite::SqliteStorage;
use catalogue_storage_conformance::sample;
use tempfile::TempDir;

catalogue_storage_conformance::tests!(crate::fixture);

/// Creates an empty database in a separate directory.
async fn fixture() -> (SqliteStorage, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open_and_migrate(database_in(&directory)).unwrap();
    (storage, directory)
}

fn database_in(directory: &TempDir) -> PathBuf {
    directory.path().join("catalogue.db")
}

/// Calls `get` until `is_new` or until a millisecond has passed: any request that arrives a millisecond after a file
/// was replaced notices the replacement (decision A14).
async fn wait_until_new<T>(get: impl AsyncFn() -> T, is_new: impl Fn(&T) -> bool) -> T {
    let replaced = Instant::now();
    loop {
        let must_be_new = replaced.elapsed() >= Duration::from_millis(1);
        let response = get().await;
        if must_be_new || is_new(&response) {
            return response;
        }
    }
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

/// Returns the items of a page.
async fn items(
    storage: &impl CourseStorage,
    account: &AccountId,
    page: &PageRequest,
) -> Result<Vec<CourseListItem>, StorageError> {
    let mut items = Vec::new();
    let mut take = |row: CourseRow<'_>| items.push(row.into());
    storage.list_courses(account, page, &mut CourseRows::new(page.limit, &mut take)).await?;
    Ok(items)
}

/// Creates an API key of `account`.
async fn key_of(storage: &SqliteStorage, account: &AccountId) -> String {
    let (token, credential) = NewCredential::api_key(account.clone(), "a key", Scopes::from_names(["read:courses"]));
    storage.create_key(&credential, &Actor::OPERATOR).await.unwrap();
    token.expose().to_owned()
}

/// Returns a course of two modules, both with a body.
fn course(account: &AccountId) -> Course {
    let modules = ["One", "Two"].map(|title| CourseModule {
        summary: String::new(),
        content: format!("the body of {title}"),
        ..sample::module(title)
    });
    Course { title: "Course".to_owned(), modules: modules.into(), ..sample::course(account.as_str(), "course") }
}

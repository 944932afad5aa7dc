//! The storage through its public API, and its database through plain SQL.
//!
//! If PostgreSQL is not installed, the tests log a line and pass, unless `CATALOGUE_TEST_REQUIRE` names `postgres`.

mod schema;

mod citus;
mod conformance;
mod failover;
mod failures;
mod last_uses;
mod lost_responses;
mod name_shadowing;
mod never_stale;
mod opening;
mod plain_sql;
mod plans;
mod replicas;
mod round_trips;
mod session_errors;
mod settings;
mod sqlite_parity;
mod statements;
mod stress;
#[cfg(feature = "tls")]
mod tls;
mod unresponsive_host;
mod views;

use catalogue_core::admin::{Account, AdminStorage, NewCredential};
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{Actor, CourseRow, CourseRows, CourseStorage, PageRequest, StorageError};
use catalogue_core::{AccountId, Course, CourseListItem, CourseModule};
use catalogue_storage_conformance::sample;

/// Imports one account with one course.
async fn import_one_course(storage: &impl AdminStorage) -> AccountId {
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
async fn key_of(storage: &impl AdminStorage, account: &AccountId) -> String {
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

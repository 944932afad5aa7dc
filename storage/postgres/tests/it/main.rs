//! The storage through its public door, and its database through plain SQL.
//!
//! Where PostgreSQL is not installed the tests say so in a line and pass, unless `CATALOGUE_TEST_REQUIRE` names `postgres`.

mod schema;

mod conformance;
mod drill;
mod failover;
mod faults;
mod migrating;
mod never_stale;
mod opening;
mod plain_sql;
mod plans;
mod replicas;
mod round_trips;
mod same_as_sqlite;
mod silence;
mod statements;
#[cfg(feature = "tls")]
mod tls;

use catalogue_core::{Account, AccountId, AdminStorage, Course, CourseModule, NewCredential, Scopes, Timestamp};

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

/// A fresh API key of that account.
async fn key_of(storage: &impl AdminStorage, account: &AccountId) -> String {
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

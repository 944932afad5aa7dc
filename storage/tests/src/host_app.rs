//! Tables of a host application and the views over them, for each database.

mod conformance;
pub mod laws;
mod rows;

use std::fmt::Debug;
use std::future::{Future, ready};
use std::ops::Deref;

use catalogue_core::admin::{AccountSummary, Accounts, AdminStorage, NewCredential};
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{
    Actor, CheckedRows, CourseRow, CourseRows, CourseStorage, CourseViews, Limit, PageRequest, StorageError,
    ViewProblem,
};
use catalogue_core::{AccountId, Course, Timestamp};
use catalogue_storage_conformance::{Storage, sample};

use crate::database::Api;

pub use conformance::OverViews;

/// Tables with the names of the views, which accept any value, for SQLite. The accounts `acc` and `other` each have the courses
/// `bad` and `good`, of two modules.
pub const LOOSE_SQLITE: &str = include_str!("host_app/sqlite/loose.sql");

/// Like [`LOOSE_SQLITE`], for PostgreSQL.
pub const LOOSE_POSTGRES: &str = include_str!("host_app/postgres/loose.sql");

/// A host application's database with its tables `owners`, `trainings` and `lessons`, and a storage over views of them.
///
/// Only the host application writes to the tables, with plain SQL. The rows are written alike for every database and every
/// kind of table; each implementation provides the statements that differ.
pub trait HostApp: Sized + Send + Sync + 'static {
    /// The storage over the views.
    type Storage: Storage + Clone;
    /// Variant of the tables.
    type Kind: Copy + Debug;

    /// Tables without revisions.
    const PLAIN: Self::Kind;
    /// Tables with revisions, which triggers replace.
    const WITH_REVISIONS: Self::Kind;
    /// Whether texts may contain NUL.
    const ACCEPTS_NUL: bool;

    /// Returns every variant in which the next response must contain each change.
    fn kinds() -> Vec<Self::Kind>;

    /// Creates the tables, and the storage over them; `None` if the database is missing and not required.
    fn new(kind: Self::Kind) -> impl Future<Output = Option<Self>>;

    /// Returns the storage over the views.
    fn storage(&self) -> &Self::Storage;

    /// Returns the checks of the views.
    fn views(&self) -> &dyn CourseViews;

    /// Runs statements as the host application, in one transaction.
    fn execute(&self, sql: &str) -> impl Future<Output = ()>;

    /// Returns the id of the account `name`. If ids are numbers, adds its owner if missing.
    fn account(&self, name: &str) -> impl Future<Output = AccountId> {
        ready(AccountId::new(name))
    }

    /// Returns SQL that adds the owner of `account` if missing.
    fn insert_owner(&self, account: &AccountId) -> String;

    /// Returns the value of `trainings.owner` for `account` in SQL.
    fn owner(&self, account: &AccountId) -> String;

    /// Returns `text` in SQL.
    fn text(&self, text: &str) -> String;

    /// Returns values of `made_at` and `live_at` in SQL.
    fn times(&self, created_at: Timestamp, published_at: Option<Timestamp>) -> [String; 2];

    /// Removes the account's events from the catalogue's own tables, as an operator would.
    fn remove_events(&self, account: &AccountId) -> impl Future<Output = ()>;

    /// Returns whether a change to one account's courses leaves the revisions of other accounts unchanged.
    fn has_per_account_revisions(&self) -> bool {
        true
    }

    /// Returns whether another program's write may make reads fail as busy.
    fn reads_may_be_blocked(&self) -> bool {
        false
    }

    /// Returns the problems that the check of the views reports.
    fn problems(&self, rows: CheckedRows) -> impl Future<Output = Vec<ViewProblem>> {
        async move { self.views().check_views(rows).await.unwrap() }
    }

    /// Writes courses in one transaction; replaces those with the same slug.
    fn put_courses(&self, courses: &[Course]) -> impl Future<Output = ()> {
        let sql: String = courses.iter().map(|course| rows::put(self, course)).collect();
        async move { self.execute(&sql).await }
    }

    /// Removes an existing course.
    fn remove_course(&self, account: &AccountId, slug: &str) -> impl Future<Output = ()> {
        async move {
            assert!(self.storage().find_course(account, slug).await.unwrap().value.is_some(), "{account} {slug}");
            self.execute(&rows::remove(self, account, slug)).await;
        }
    }
}

/// Returns two courses of `account`: `first`, and `second`, which is newer and has two modules.
#[must_use]
pub fn two_courses(account: &AccountId) -> [Course; 2] {
    let first = sample::course(account.as_str(), "first");
    let modules = ["One", "Two"].map(sample::module).into();
    [first, Course { created_at: sample::time(1_000_000), modules, ..sample::course(account.as_str(), "second") }]
}

/// Returns the slugs of all pages, with `limit` courses per page.
///
/// # Errors
/// Returns the storage's first error.
pub async fn slugs(storage: &impl CourseStorage, account: &AccountId, limit: u8) -> Result<Vec<String>, StorageError> {
    let mut page = PageRequest { limit: Limit::new(limit).unwrap(), after: None };
    let mut slugs = Vec::new();
    loop {
        let mut take = |row: CourseRow<'_>| slugs.push(row.slug.to_owned());
        let mut rows = CourseRows::new(page.limit, &mut take);
        storage.list_courses(account, &page, &mut rows).await?;
        page.after = rows.next();
        if page.after.is_none() {
            return Ok(slugs);
        }
    }
}

/// Returns the id, the number of courses and the number of keys of each account.
pub async fn summaries(storage: &impl AdminStorage, accounts: Accounts<'_>) -> Vec<(String, u64, u64)> {
    let mut found = Vec::new();
    let mut take = |summary: AccountSummary| {
        found.push((summary.account.id.to_string(), summary.courses, summary.keys));
        std::ops::ControlFlow::Continue(())
    };
    storage.list_accounts(accounts, Timestamp::now(), &mut take).await.unwrap();
    found
}

/// Path of the list of courses.
pub const LIST: &str = "/api/v1/courses";

/// Path of the second one of [`two_courses`].
pub const DETAIL: &str = "/api/v1/courses/second";

/// A client of a catalogue over a storage, with an API key.
#[derive(Debug)]
pub struct Client {
    /// The client's key.
    pub key: NewCredential,
    api: Api,
}

impl Deref for Client {
    type Target = Api;

    fn deref(&self) -> &Api {
        &self.api
    }
}

impl Client {
    /// Creates a key of `account`, and a catalogue.
    pub async fn new(storage: &(impl Storage + Clone), account: &AccountId) -> Self {
        let (token, key) = NewCredential::api_key(account.clone(), "a key", Scopes::from_names(["read:courses"]));
        storage.create_key(&key, &Actor::OPERATOR).await.unwrap();
        Self { key, api: Api::new(storage.clone(), token.expose().to_owned()) }
    }

    /// Returns the current status and body of `path`.
    pub async fn text(&self, path: &str) -> (u16, String) {
        let response = self.get(path, "").await;
        (response.status().as_u16(), String::from_utf8(response.body().to_vec()).unwrap())
    }

    /// Returns the current status of `path`.
    pub async fn status(&self, path: &str) -> u16 {
        self.text(path).await.0
    }
}

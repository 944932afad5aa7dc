//! A database that both a storage and plain SQL of a host application change, and the laws that hold for each.

use bytes::Bytes;
use catalogue_core::admin::{Account, AdminStorage, NewCredential};
use catalogue_core::auth::{Scopes, TokenDigest};
use catalogue_core::storage::{
    Actor, CourseRow, CourseRows, CourseStorage, CredentialStorage, KeyStorage, NewSession, NewSignIn, PageRequest,
    StorageError,
};
use catalogue_core::{AccountId, Catalogue, Course, CourseListItem, CourseModule, Timestamp};
use catalogue_storage_conformance::{Storage, sample};
use http::{Request, Response};

/// A database with a storage, and a connection of the host application to it.
///
/// The constants contain what differs in SQL. All other SQL of the laws is the same for every database.
pub trait Database: Sized {
    /// The storage under test.
    type Storage: Storage + Clone;

    /// Prefix of statements that are executed without enforcing foreign keys.
    const WITHOUT_FOREIGN_KEYS: &str;
    /// The statement with which the guide replaces all revisions.
    const REPLACE_REVISIONS: &str;
    /// Statements of this database, each of which replaces the revision of the account `acc`. Before the first one, the
    /// account has one course, `renamed`.
    const REVISION_CHANGES: &[&str];
    /// Statements of this database, each with the module count of the only course, `renamed`, after it. Before the first
    /// one, the course has no modules.
    const MODULE_CHANGES: &[(&str, u32)];
    /// Statements of this database that must fail.
    const REFUSED_CHANGES: &[&str];
    /// Settings of a session that must not disable the trigger that rejects changes of events.
    const HOSTILE_SETTINGS: &str;

    /// Returns a literal of bytes.
    fn bytes(bytes: &[u8]) -> String;

    /// Creates an empty database. Returns `None` if its server is missing and not required.
    fn create() -> impl Future<Output = Option<Self>>;

    /// Returns the storage under test.
    fn storage(&self) -> &Self::Storage;

    /// Opens another storage of the database, as another process would.
    fn open_storage(&self) -> impl Future<Output = Self::Storage>;

    /// Executes statements of the host application, and returns the error message of a failure.
    fn try_execute(&self, sql: &str) -> impl Future<Output = Result<(), String>>;

    /// Executes statements of the host application while no trigger fires.
    fn execute_without_triggers(&self, sql: &str) -> impl Future<Output = ()>;

    /// Returns the number of rows of a table, or of what else `from` selects from.
    fn count(&self, from: &str) -> impl Future<Output = i64>;

    /// Executes statements of the host application, which must succeed.
    fn execute(&self, sql: &str) -> impl Future<Output = ()> {
        async move { self.try_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}")) }
    }
}

/// A catalogue, and the token of a key that reads it.
#[derive(Clone, Debug)]
pub struct Api {
    /// The catalogue.
    pub catalogue: Catalogue,
    /// The token.
    pub token: String,
}

impl Api {
    /// Creates a catalogue over `storage`.
    pub fn new(storage: impl CourseStorage + CredentialStorage + Clone, token: String) -> Self {
        Self { catalogue: Catalogue::with_api_keys(storage).build().unwrap(), token }
    }

    /// Gets `path`, unless its ETag is `tag`.
    pub async fn get(&self, path: &str, tag: &str) -> Response<Bytes> {
        let request = Request::get(path).header("authorization", format!("Bearer {}", self.token));
        self.catalogue.call(request.header("if-none-match", tag).body(()).unwrap()).await
    }

    /// Returns the current ETag of `path`.
    pub async fn tag(&self, path: &str) -> String {
        self.get(path, "").await.headers()["etag"].to_str().unwrap().to_owned()
    }
}

/// Imports an account without courses.
pub async fn import_account(storage: &impl AdminStorage, id: &str) -> AccountId {
    let id = AccountId::new(id);
    let mut import = storage.begin_import().await.unwrap();
    import.put_account(&Account { id: id.clone(), name: String::new(), email: String::new() }).await.unwrap();
    import.commit().await.unwrap();
    id
}

/// Imports the account `acc` with one [`course`].
pub async fn import_one_course(storage: &impl AdminStorage) -> AccountId {
    let account = import_account(storage, "acc").await;
    let mut import = storage.begin_import().await.unwrap();
    import.put_course(&course(&account)).await.unwrap();
    import.commit().await.unwrap();
    account
}

/// Returns the items of a page.
///
/// # Errors
///
/// Returns the error of the storage.
pub async fn items(
    storage: &impl CourseStorage,
    account: &AccountId,
    page: &PageRequest,
) -> Result<Vec<CourseListItem>, StorageError> {
    let mut items = Vec::new();
    let mut take = |row: CourseRow<'_>| items.push(row.into());
    storage.list_courses(account, page, &mut CourseRows::new(page.limit, &mut take)).await?;
    Ok(items)
}

/// Creates an API key of `account`, and returns its token.
pub async fn key_of(storage: &impl KeyStorage, account: &AccountId) -> String {
    let (token, credential) = NewCredential::api_key(account.clone(), "a key", Scopes::from_names(["read:courses"]));
    storage.create_key(&credential, &Actor::OPERATOR).await.unwrap();
    token.expose().to_owned()
}

/// Returns a course of two modules, both with a body.
pub fn course(account: &AccountId) -> Course {
    let modules = ["One", "Two"].map(|title| CourseModule {
        summary: String::new(),
        content: format!("the body of {title}"),
        ..sample::module(title)
    });
    Course { title: "Course".to_owned(), modules: modules.into(), ..sample::course(account.as_str(), "course") }
}

/// Returns the time of a second after 1970.
pub fn at(second: i64) -> Timestamp {
    Timestamp::from_microseconds(second * 1_000_000).unwrap()
}

/// Returns a digest of equal bytes.
pub fn digest(number: u8) -> TokenDigest {
    TokenDigest::from_bytes([number; 32])
}

/// Returns a link of ten seconds.
pub fn link(account: &str, number: u8, now: i64) -> NewSignIn {
    NewSignIn { digest: digest(number), account: account.into(), created_at: at(now), expires_at: at(now + 10) }
}

/// Returns a session of ten seconds.
pub fn session(number: u8, now: i64) -> NewSession {
    NewSession { digest: digest(number), created_at: at(now), expires_at: at(now + 10) }
}

/// Expands to a test of each law, for a [`Database`].
#[macro_export]
macro_rules! laws {
    ($database:ty) => {
        $crate::laws! { $database: plain_sql {
            every_change_replaces_the_revision
            rolled_back_or_unrelated_change_keeps_revision
            moved_course_replaces_both_revisions
            module_count_follows_every_change
            modules_inserted_before_course_are_counted
            consecutive_renames_keep_modules
            unreadable_values_are_rejected
            events_are_immutable
            deletion_removes_dependent_rows_without_foreign_keys
        } }
        $crate::laws! { $database: freshness {
            plain_sql_change_is_in_next_response
            import_is_in_next_response
            revoked_or_expired_key_gets_401_immediately
            key_scope_and_account_changes_take_effect_immediately
            token_revocation_takes_effect_immediately
            removed_account_gets_401_and_cached_responses_never_return
            manual_revision_change_invalidates_responses
        } }
    };
    ($database:ty: $topic:ident { $($law:ident)* }) => {
        mod $topic {
            $(
                #[tokio::test]
                async fn $law() {
                    $crate::$topic::$law::<$database>().await;
                }
            )*
        }
    };
}

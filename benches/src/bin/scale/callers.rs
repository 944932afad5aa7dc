//! [`Callers`]: who asks, and for what.

use std::error::Error;

use catalogue_core::{
    Account, AccountId, AdminStorage, Catalogue, Course, Identity, MemoryStorage, NewCredential, Scopes, StorageError,
    Timestamp,
};
use catalogue_postgres::PostgresStorage;
use serde_json::Value;

use crate::database::Database;
use crate::rows;

const SCOPE: &str = "read:courses";
/// An account of which fewer than one course in a hundred is, so that no two are neighbours.
const STREWN: u64 = 10;
/// How many accounts a walk visits at most.
const WALKED: u64 = 200;

pub(crate) const FIRST_PAGE: &str = "/api/v1/courses?limit=50";

/// The largest account's key and the places that it asks for, and keys of accounts of all sizes.
pub(crate) struct Callers {
    pub(crate) token: String,
    /// How many courses the largest account has.
    pub(crate) courses: i64,
    /// The page of fifty nine tenths of the way down its list.
    pub(crate) deep_page: String,
    /// A course with modules.
    pub(crate) detail: String,
    /// The key of an account whose courses stand in blocks of their own each.
    pub(crate) strewn: String,
    /// A key of each account of a walk.
    pub(crate) walk: Vec<String>,
}

impl Callers {
    /// Mints keys for some of that many accounts.
    pub(crate) fn of(database: &Database, storage: &PostgresStorage, accounts: u64) -> Result<Self, Box<dyn Error>> {
        let largest = rows::account(1);
        let courses: i64 = database.query("SELECT count(*) FROM courses WHERE account_id = $1", &[&largest])?[0].get(0);
        let place = "SELECT created_at, slug FROM courses WHERE account_id = $1 \
                     ORDER BY created_at DESC, slug DESC OFFSET $2 LIMIT 1";
        let place = &database.query(place, &[&largest, &(courses / 10 * 9)])?[0];
        let detail = "SELECT slug FROM courses WHERE account_id = $1 AND module_count > 0 \
                      ORDER BY created_at DESC LIMIT 1";
        let detail: String = database.query(detail, &[&largest])?[0].get(0);
        let step = (accounts / WALKED).max(1);
        let walk = (1..=accounts).step_by(usize::try_from(step)?);
        let keys = async |numbers: &mut dyn Iterator<Item = u64>| {
            let mut tokens = Vec::new();
            for number in numbers {
                tokens.push(key(storage, &rows::account(number)).await?);
            }
            Ok::<_, StorageError>(tokens)
        };
        let walk = database.wait(keys(&mut walk.into_iter()))?;
        let strewn = database.wait(key(storage, &rows::account(STREWN)))?;
        let cursor = database.wait(cursor_after(&largest, place.get(0), place.get(1)))?;
        Ok(Self {
            token: walk[0].clone(),
            courses,
            deep_page: format!("{FIRST_PAGE}&cursor={cursor}"),
            detail: format!("/api/v1/courses/{detail}"),
            strewn,
            walk,
        })
    }
}

async fn key(storage: &PostgresStorage, account: &str) -> Result<String, StorageError> {
    let (token, credential) = NewCredential::api_key(AccountId::new(account), "a caller", Scopes::from_names([SCOPE]));
    storage.create_credential(&credential).await?;
    Ok(token.expose().to_owned())
}

/// The cursor of the page after that course, as a catalogue over another storage with the same course gives it: to walk
/// there takes thousands of requests.
async fn cursor_after(account: &str, created_at: i64, slug: &str) -> Result<String, Box<dyn Error>> {
    let (account, storage) = (AccountId::new(account), MemoryStorage::new());
    let created_at = Timestamp::from_microseconds(created_at).ok_or("a time that is none")?;
    let course = |created_at, slug: &str| Course {
        account: account.clone(),
        slug: slug.to_owned(),
        title: String::from("A course"),
        tagline: String::new(),
        language: String::from("en"),
        created_at,
        published_at: None,
        hidden: false,
        access_mode: None,
        modules: Vec::new(),
    };
    let mut import = storage.begin_import().await?;
    import.put_account(&Account { id: account.clone(), name: String::new(), email: String::new() }).await?;
    import.put_course(&course(created_at, slug)).await?;
    // An older one, so that a page follows.
    import.put_course(&course(Timestamp::from_microseconds(0).ok_or("no time 0")?, "older")).await?;
    import.commit().await?;
    let caller = Identity::api_key(account.clone(), "key", Scopes::from_names([SCOPE]));
    let request = http::Request::get("/api/v1/courses?limit=1").body(())?;
    let response = Catalogue::with_api_keys(storage).build()?.call_as(caller, request).await;
    let page: Value = serde_json::from_slice(response.body())?;
    Ok(page["meta"]["nextCursor"].as_str().ok_or("a page without a next one")?.to_owned())
}

/// A request as it is sent over a connection.
pub(crate) fn request(token: &str, path: &str, fields: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\n{fields}\r\n").into()
}

//! Every response reflects each change committed before the request arrived, whether by the API or by any other writer.

use std::ops::Deref;

use catalogue_core::admin::AdminStorage as _;
use catalogue_core::storage::{CourseStorage as _, CredentialStorage as _};
use catalogue_core::{AccountId, Course, Timestamp};
use http::Response;

use crate::database::{Api, Database, course, digest, import_account, import_one_course, key_of};

/// Path of the list of courses.
pub const LIST: &str = "/api/v1/courses";
/// Path of the only course.
pub const DETAIL: &str = "/api/v1/courses/course";

/// A catalogue over a database with one course.
#[derive(Debug)]
pub struct Watched<D> {
    /// The database.
    pub database: D,
    account: AccountId,
    api: Api,
}

impl<D> Deref for Watched<D> {
    type Target = Api;

    fn deref(&self) -> &Api {
        &self.api
    }
}

impl<D: Database> Watched<D> {
    /// Creates the database. Returns `None` if its server is missing and not required.
    pub async fn new() -> Option<Self> {
        let database = D::create().await?;
        let account = import_one_course(database.storage()).await;
        // Use a separate storage: with an open connection to a SQLite file, the host's changes would stay in the WAL.
        let token = key_of(&database.open_storage().await, &account).await;
        let api = Api::new(database.storage().clone(), token);
        Some(Self { database, account, api })
    }

    /// Asserts that `path` is no longer the response with `tag`, and now contains `text`.
    pub async fn assert_changed(&self, path: &str, tag: &str, text: &str) {
        assert_contains(&self.get(path, tag).await, text);
    }
}

/// Asserts that the response is a 200 whose body contains `text`.
#[track_caller]
pub fn assert_contains(response: &Response<bytes::Bytes>, text: &str) {
    assert_eq!(response.status(), 200, "no {text}");
    assert!(String::from_utf8_lossy(response.body()).contains(text), "no {text}: {response:?}");
}

/// Asserts that a change by plain SQL is in the next response.
pub async fn plain_sql_change_is_in_next_response<D: Database>() {
    let Some(watched) = Watched::<D>::new().await else { return };
    for number in 0..20 {
        for (path, table, column) in
            [(LIST, "courses", "title"), (DETAIL, "courses", "tagline"), (DETAIL, "modules", "summary")]
        {
            let tag = watched.tag(path).await;
            assert_eq!(watched.get(path, &tag).await.status(), 304);
            let value = format!("value {number} of {column}");
            watched.database.execute(&format!("UPDATE {table} SET {column} = '{value}'")).await;
            watched.assert_changed(path, &tag, &value).await;
        }
    }
}

/// Asserts that an import is in the next response once it is committed.
pub async fn import_is_in_next_response<D: Database>() {
    let Some(watched) = Watched::<D>::new().await else { return };
    let tag = watched.tag(DETAIL).await;
    let mut import = watched.database.storage().begin_import().await.unwrap();
    let changed = Course { modules: course(&watched.account).modules[..1].to_vec(), ..course(&watched.account) };
    import.put_course(&changed).await.unwrap();
    assert_eq!(watched.get(DETAIL, &tag).await.status(), 304, "nothing is committed yet");
    import.commit().await.unwrap();
    assert_eq!(watched.get(DETAIL, &tag).await.status(), 200);
    let detail = watched.database.storage().find_course(&watched.account, "course").await.unwrap().value.unwrap();
    assert_eq!(detail.modules.len(), 1);
}

/// Asserts that an ended key gets neither a cached response nor a 304.
pub async fn revoked_or_expired_key_gets_401_immediately<D: Database>() {
    for change in ["UPDATE credentials SET revoked_at = 1", "UPDATE credentials SET expires_at = 1"] {
        let Some(watched) = Watched::<D>::new().await else { return };
        let tag = watched.tag(LIST).await;
        watched.database.execute(change).await;
        assert_eq!(watched.get(LIST, &tag).await.status(), 401, "{change}");
    }
}

/// Asserts that requests for cached and uncached pages use the current scopes and account of a key.
pub async fn key_scope_and_account_changes_take_effect_immediately<D: Database>() {
    let Some(watched) = Watched::<D>::new().await else { return };
    watched.database.execute("INSERT INTO accounts (id) VALUES ('other')").await;
    watched.tag(LIST).await;
    let limits = |from: u8| [LIST.to_owned(), format!("{LIST}?limit={from}"), format!("{LIST}?limit={}", from + 1)];
    watched.database.execute("UPDATE credentials SET account_id = 'other'").await;
    for path in limits(10) {
        let response = watched.get(&path, "").await;
        assert!(response.status() == 200 && response.body().starts_with(br#"{"data":[]"#), "{path}: {response:?}");
    }
    assert_eq!(watched.get(DETAIL, "").await.status(), 404);
    watched.database.execute("UPDATE credentials SET scopes = 'read:nothing'").await;
    for path in limits(20) {
        assert_eq!(watched.get(&path, "").await.status(), 403, "{path}");
    }
}

/// Asserts that the next lookup finds a revocation by another storage or by plain SQL. The preceding lookups may cache that
/// the token is not revoked.
pub async fn token_revocation_takes_effect_immediately<D: Database>() {
    let Some(database) = D::create().await else { return };
    let other = database.open_storage().await;
    let is_revoked = async |number| database.storage().is_revoked(&digest(number)).await.unwrap();
    for number in 0..20 {
        for _ in 0..2 {
            assert_eq!(is_revoked(number).await, Some(false));
        }
        if number % 2 == 0 {
            other.revoke_tokens(&[digest(number)], Timestamp::MAX, Timestamp::now()).await.unwrap();
        } else {
            let digest = D::bytes(digest(number).as_bytes());
            let sql = format!("INSERT INTO revoked_tokens (digest, expires_at, revoked_at) VALUES ({digest}, 9, 9)");
            database.execute(&sql).await;
        }
        assert_eq!(is_revoked(number).await, Some(true));
    }
    database.execute("DELETE FROM revoked_tokens").await;
    assert_eq!(is_revoked(0).await, Some(false));
}

/// Asserts that an account created again with the id of a removed one gets none of its data.
pub async fn removed_account_gets_401_and_cached_responses_never_return<D: Database>() {
    let Some(watched) = Watched::<D>::new().await else { return };
    let (list, detail) = (watched.tag(LIST).await, watched.tag(DETAIL).await);
    assert_eq!(watched.get(LIST, &list).await.status(), 304);
    let storage = watched.database.storage().clone();
    storage.remove_account(&watched.account).await.unwrap().unwrap();
    for (path, tag) in [(LIST, &list), (DETAIL, &detail), ("/api/v1/me", &list)] {
        assert_eq!(watched.get(path, tag).await.status(), 401, "{path}");
    }
    import_account(&storage, "acc").await;
    assert_eq!(watched.get(LIST, &list).await.status(), 401);
    let watched = Watched { api: Api { token: key_of(&storage, &watched.account).await, ..watched.api }, ..watched };
    let next = watched.get(LIST, &list).await;
    assert_eq!(next.status(), 200);
    assert!(next.body().starts_with(br#"{"data":[]"#), "{next:?}");
    assert_eq!(watched.get(DETAIL, &detail).await.status(), 404);
}

/// Asserts that the statements that the server's README recommends after writes without triggers invalidate responses.
pub async fn manual_revision_change_invalidates_responses<D: Database>() {
    const GUIDE: &str = include_str!("../../../frontends/server/README.md");
    assert!(GUIDE.contains(D::REPLACE_REVISIONS));
    let count = GUIDE.split("```sql\n").find(|block| block.starts_with("UPDATE courses")).unwrap();
    let count = count.split("```").next().unwrap();
    let Some(watched) = Watched::<D>::new().await else { return };
    let (list, detail) = (watched.tag(LIST).await, watched.tag(DETAIL).await);
    let load = "UPDATE courses SET title = 'loaded', tagline = 'loaded'; DELETE FROM modules WHERE number = 2;";
    watched.database.execute_without_triggers(load).await;
    watched.database.execute(D::REPLACE_REVISIONS).await;
    for (path, tag) in [(LIST, list), (DETAIL, detail)] {
        watched.assert_changed(path, &tag, "loaded").await;
    }
    watched.database.execute(count).await;
    watched.assert_changed(LIST, "", "\"moduleCount\":1").await;
}

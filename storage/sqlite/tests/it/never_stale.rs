//! Every response reflects each change committed before the request arrived, whether by the API or by any other writer.

use std::fs;
use std::path::Path;
use std::process::Command;

use catalogue_core::admin::{Account, Accounts, AdminStorage};
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::{CourseStorage, CredentialStorage};
use catalogue_core::{AccountId, Catalogue, Timestamp};
use catalogue_sqlite::SqliteStorage;
use http::{Request, Response};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use tempfile::TempDir;

use crate::views::never_stale::in_another_process;
use crate::{database_in, fixture, import_one_course, key_of, wait_until_new};

/// A catalogue over a file, its storage and directory, and an account with a key.
struct Watched {
    storage: SqliteStorage,
    catalogue: Catalogue,
    account: AccountId,
    token: String,
    directory: TempDir,
}

impl Watched {
    async fn new() -> Self {
        let (storage, directory) = fixture().await;
        let account = import_one_course(&storage).await;
        // Use a separate storage: with an open connection, the host's changes would stay in the WAL.
        let token = key_of(&SqliteStorage::open(database_in(&directory)).unwrap(), &account).await;
        let catalogue = Catalogue::with_api_keys(storage.clone()).build().unwrap();
        Self { storage, catalogue, account, token, directory }
    }

    fn host(&self) -> Connection {
        Connection::open(database_in(&self.directory)).unwrap()
    }

    async fn get(&self, path: &str, tag: &str) -> Response<bytes::Bytes> {
        let request = Request::get(path).header("authorization", format!("Bearer {}", self.token));
        self.catalogue.call(request.header("if-none-match", tag).body(()).unwrap()).await
    }

    /// Gets `path` until the replacement of the file is noticed.
    async fn get_uncached(&self, path: &str, tag: &str) -> Response<bytes::Bytes> {
        wait_until_new(async || self.get(path, tag).await, |response| response.status() != 304).await
    }

    async fn tag(&self, path: &str) -> String {
        self.get(path, "").await.headers()["etag"].to_str().unwrap().to_owned()
    }

    async fn text(&self, path: &str) -> String {
        String::from_utf8(self.get(path, "").await.body().to_vec()).unwrap()
    }
}

const LIST: &str = "/api/v1/courses";
const DETAIL: &str = "/api/v1/courses/course";

#[tokio::test]
async fn plain_sql_change_is_in_next_response() {
    let watched = Watched::new().await;
    let host = watched.host();
    for number in 0..20 {
        for (path, sql) in [
            (LIST, "UPDATE courses SET title = ?1"),
            (DETAIL, "UPDATE courses SET tagline = ?1"),
            (DETAIL, "UPDATE modules SET summary = ?1 WHERE number = 2"),
        ] {
            let tag = watched.tag(path).await;
            assert_eq!(watched.get(path, &tag).await.status(), 304);
            let value = format!("value {number} of {sql}");
            host.execute(sql, [&value]).unwrap();
            let next = watched.get(path, &tag).await;
            assert_eq!(next.status(), 200, "{sql}");
            assert!(String::from_utf8_lossy(next.body()).contains(&value), "{sql}");
        }
    }
}

#[tokio::test]
async fn revoked_or_expired_key_gets_401_immediately() {
    for change in ["UPDATE credentials SET revoked_at = 1", "UPDATE credentials SET expires_at = 1"] {
        let watched = Watched::new().await;
        let tag = watched.tag(LIST).await;
        watched.host().execute(change, []).unwrap();
        assert_eq!(watched.get(LIST, &tag).await.status(), 401, "{change}");
    }
}

/// The writer is another storage, or a host's plain SQL; the preceding lookups cache that the token is not revoked.
#[tokio::test]
async fn token_revocation_takes_effect_immediately() {
    let watched = Watched::new().await;
    let other = SqliteStorage::open(database_in(&watched.directory)).unwrap();
    let digest = |number| TokenDigest::from_bytes([number; 32]);
    let revoked = async |number| watched.storage.is_revoked(&digest(number)).await.unwrap();
    for number in 0..20 {
        for _ in 0..2 {
            assert_eq!(revoked(number).await, Some(false));
        }
        if number % 2 == 0 {
            other.revoke_tokens(&[digest(number)], Timestamp::MAX, Timestamp::now()).await.unwrap();
        } else {
            let sql = "INSERT INTO revoked_tokens (digest, expires_at, revoked_at) VALUES (?1, 9, 9)";
            watched.host().execute(sql, [digest(number).as_bytes()]).unwrap();
        }
        assert_eq!(revoked(number).await, Some(true));
    }
    watched.host().execute("DELETE FROM revoked_tokens", []).unwrap();
    assert_eq!(revoked(0).await, Some(false));
}

/// An account created again with the id of a removed one gets none of its data.
#[tokio::test]
async fn removed_account_gets_401_and_cached_responses_never_return() {
    let watched = Watched::new().await;
    let (list, detail) = (watched.tag(LIST).await, watched.tag(DETAIL).await);
    assert_eq!(watched.get(LIST, &list).await.status(), 304);
    watched.storage.remove_account(&watched.account).await.unwrap().unwrap();
    for (path, tag) in [(LIST, &list), (DETAIL, &detail), ("/api/v1/me", &list)] {
        assert_eq!(watched.get(path, tag).await.status(), 401, "{path}");
    }
    let mut import = watched.storage.begin_import().await.unwrap();
    let account = Account { id: watched.account.clone(), name: String::new(), email: String::new() };
    import.put_account(&account).await.unwrap();
    import.commit().await.unwrap();
    assert_eq!(watched.get(LIST, &list).await.status(), 401);
    let watched = Watched { token: key_of(&watched.storage, &watched.account).await, ..watched };
    let next = watched.get(LIST, &list).await;
    assert_eq!(next.status(), 200);
    assert!(next.body().starts_with(br#"{"data":[]"#), "{next:?}");
    assert_eq!(watched.get(DETAIL, &detail).await.status(), 404);
}

/// Copies the database as it is now.
fn back_up(watched: &Watched, name: &str) -> std::path::PathBuf {
    let copy = watched.directory.path().join(name);
    watched.host().execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
    copy
}

#[tokio::test]
async fn replaced_file_is_in_next_response() {
    let watched = Watched::new().await;
    let copy = back_up(&watched, "copy.db");
    Connection::open(&copy).unwrap().execute("UPDATE courses SET title = 'From the copy'", []).unwrap();
    let tag = watched.tag(LIST).await;
    fs::rename(&copy, database_in(&watched.directory)).unwrap();
    let next = watched.get_uncached(LIST, &tag).await;
    assert_eq!(next.status(), 200);
    assert!(String::from_utf8_lossy(next.body()).contains("From the copy"));
}

/// Copies by another process: closing the file in this process would drop the locks that SQLite holds on it.
fn copy_over(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg(from).arg(to).status().unwrap().success());
}

#[tokio::test]
async fn overwritten_file_is_in_next_response() {
    let watched = Watched::new().await;
    let copy = back_up(&watched, "copy.db");
    Connection::open(&copy).unwrap().execute("UPDATE courses SET title = 'From the copy'", []).unwrap();
    watched.host().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let database = database_in(&watched.directory);
    assert!(Command::new("touch").args(["-d", "2001-01-01"]).arg(&database).status().unwrap().success());
    let tags = [watched.tag(LIST).await, watched.tag(DETAIL).await];
    copy_over(&copy, &database);
    for (path, tag) in [LIST, DETAIL].into_iter().zip(tags) {
        let next = watched.get_uncached(path, &tag).await;
        assert_eq!(next.status(), 200, "{path}");
        assert!(String::from_utf8_lossy(next.body()).contains("From the copy"), "{path}");
    }
}

/// Without the lock on the index, the next program that opens the database takes the index for abandoned and truncates it.
/// This process still has it mapped into memory.
#[tokio::test]
#[cfg(target_os = "linux")]
async fn wal_index_stays_locked_when_file_is_replaced() {
    use std::os::unix::fs::MetadataExt as _;

    let watched = Watched::new().await;
    for round in 0..3 {
        let copy = back_up(&watched, &format!("copy {round}.db"));
        let copied = Connection::open(&copy).unwrap();
        copied.query_row("PRAGMA journal_mode = wal", [], |_| Ok(())).unwrap();
        copied.execute("UPDATE courses SET title = ?1", [format!("round {round}")]).unwrap();
        drop(copied);
        watched.host().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        let tag = watched.tag(LIST).await;
        // WAL and index of the old file stay.
        fs::rename(&copy, database_in(&watched.directory)).unwrap();
        let next = watched.get_uncached(LIST, &tag).await;
        assert!(String::from_utf8_lossy(next.body()).contains(&format!("round {round}")), "{next:?}");
        watched.text(DETAIL).await;
        let index = fs::metadata(watched.directory.path().join("catalogue.db-shm")).unwrap().ino();
        let held = format!(" {} ", std::process::id());
        let byte = format!(":{index} 128 128");
        let is_held = |locks: &str| locks.lines().any(|lock| lock.contains(&held) && lock.ends_with(&byte));
        // The kernel returns the list in pieces, so a line may be missing if another test releases a lock. A lost lock
        // never returns, so repeated reads are safe.
        let mut locks = String::new();
        let found = (0..100).any(|_| {
            locks = fs::read_to_string("/proc/locks").unwrap();
            is_held(&locks)
        });
        assert!(found, "{round}: {locks}");
    }
}

/// SQLite forbids removing the index while a program has the database open; another program then creates a new one.
#[tokio::test]
async fn changes_are_in_next_response_after_wal_index_removal() {
    let watched = Watched::new().await;
    for number in 0..3 {
        let tag = watched.tag(LIST).await;
        assert_eq!(watched.get(LIST, &tag).await.status(), 304);
        fs::remove_file(watched.directory.path().join("catalogue.db-shm")).unwrap();
        let title = format!("title {number}");
        in_another_process(&database_in(&watched.directory), &format!("UPDATE courses SET title = '{title}'"));
        let next = watched.get_uncached(LIST, &tag).await;
        assert!(String::from_utf8_lossy(next.body()).contains(&title), "{number}: {next:?}");
    }
    assert_eq!(watched.get(LIST, "").await.status(), 200);
    fs::remove_file(watched.directory.path().join("catalogue.db-shm")).unwrap();
    in_another_process(&database_in(&watched.directory), "UPDATE credentials SET revoked_at = 1");
    let next = wait_until_new(async || watched.get(LIST, "").await, |response| response.status() == 401).await;
    assert_eq!(next.status(), 401);
}

#[tokio::test]
async fn changed_backup_never_matches_earlier_etags() {
    let watched = Watched::new().await;
    let copy = back_up(&watched, "copy.db");
    watched.host().execute("UPDATE courses SET title = 'Later'", []).unwrap();
    let later = watched.tag(LIST).await;

    fs::rename(&copy, database_in(&watched.directory)).unwrap();
    let restored = watched.get_uncached(LIST, &later).await;
    assert!(String::from_utf8_lossy(restored.body()).contains("\"Course\""), "{restored:?}");
    // As many changes as before: a counter would now have the same value as before the restore.
    watched.host().execute("UPDATE courses SET title = 'Otherwise'", []).unwrap();
    let next = watched.get(LIST, &later).await;
    assert_eq!(next.status(), 200);
    assert!(String::from_utf8_lossy(next.body()).contains("Otherwise"));
}

#[tokio::test]
async fn missing_file_returns_500_instead_of_404() {
    let watched = Watched::new().await;
    watched.text(LIST).await;
    fs::rename(database_in(&watched.directory), watched.directory.path().join("elsewhere.db")).unwrap();
    let failed = wait_until_new(async || watched.get(LIST, "").await, |response| response.status() != 200).await;
    assert_eq!(failed.status(), 500);
    fs::rename(watched.directory.path().join("elsewhere.db"), database_in(&watched.directory)).unwrap();
    assert_eq!(watched.get(LIST, "").await.status(), 200);
}

#[tokio::test]
async fn import_is_in_next_response() {
    let watched = Watched::new().await;
    let tag = watched.tag(DETAIL).await;
    let mut course = whole_course(&watched).await;
    course.modules.pop();
    let mut import = watched.storage.begin_import().await.unwrap();
    import.put_course(&course).await.unwrap();
    assert_eq!(watched.get(DETAIL, &tag).await.status(), 304, "nothing is committed yet");
    import.commit().await.unwrap();
    assert_eq!(watched.get(DETAIL, &tag).await.status(), 200);
    let detail = watched.storage.find_course(&watched.account, "course").await.unwrap().value.unwrap();
    assert_eq!(detail.modules.len(), 1);
}

async fn whole_course(watched: &Watched) -> catalogue_core::Course {
    use catalogue_core::admin::Record;

    let mut found = None;
    let mut visit = |record| {
        if let Record::Course(course) = record {
            found = Some(course);
        }
        std::ops::ControlFlow::Continue(())
    };
    watched.storage.export(Accounts::All, &mut visit).await.unwrap();
    found.unwrap()
}

/// Runs the statements that the server's README recommends after writes without triggers.
#[tokio::test]
async fn manual_revision_change_invalidates_responses() {
    const GUIDE: &str = include_str!("../../../../frontends/server/guide/import-and-backup.md");
    const LINE: &str = "UPDATE accounts SET revision = randomblob(16);";
    assert!(GUIDE.contains(LINE));
    let count = GUIDE.split("```sql\n").find(|block| block.starts_with("UPDATE courses")).unwrap();
    let count = count.split("```").next().unwrap();
    let watched = Watched::new().await;
    let (list, detail) = (watched.tag(LIST).await, watched.tag(DETAIL).await);
    let host = watched.host();
    host.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false).unwrap();
    let load = "UPDATE courses SET title = 'loaded', tagline = 'loaded'; DELETE FROM modules WHERE number = 2";
    host.execute_batch(load).unwrap();
    host.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, true).unwrap();
    host.execute_batch(LINE).unwrap();
    for (path, tag) in [(LIST, list), (DETAIL, detail)] {
        let next = watched.get(path, &tag).await;
        assert_eq!(next.status(), 200, "{path}");
        assert!(String::from_utf8_lossy(next.body()).contains("loaded"), "{path}");
    }
    host.execute_batch(count).unwrap();
    assert!(watched.text(LIST).await.contains("\"moduleCount\":1"));
}

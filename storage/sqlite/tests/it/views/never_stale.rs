//! Responses after commits of the host application, for four journal modes, and revisions that never repeat.

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use catalogue_core::storage::CourseStorage;
use catalogue_sqlite::SqliteStorage;
use catalogue_storage_tests::host_app::{Client, HostApp as _, LIST, two_courses};
use http::Response;
use rusqlite::Connection;

use super::host_app::{HostApp, Kind, PLAIN, kinds};
use super::{anna, with_two_courses};

/// Creates a host application with two courses of `anna`, and a client of hers.
async fn served(kind: Kind) -> (HostApp, Client) {
    let host_app = with_two_courses(kind).await;
    let client = Client::new(&host_app.storage, &anna()).await;
    (host_app, client)
}

/// The keys are in a file that is separate from the host application's. Its commits take effect immediately too.
#[tokio::test]
async fn revoked_key_gets_401_immediately() {
    for kind in kinds() {
        let (host_app, client) = served(kind).await;
        let tag = client.tag(LIST).await;
        let keys = Connection::open(host_app.keys()).unwrap();
        keys.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
        keys.execute("UPDATE credentials SET revoked_at = 1", []).unwrap();
        assert_eq!(client.get(LIST, &tag).await.status(), 401, "{kind:?}");
    }
}

#[tokio::test]
async fn replaced_file_is_in_next_response() {
    for kind in kinds() {
        let (host_app, client) = served(kind).await;
        let copy = host_app.directory.path().join("copy.db");
        host_app.writer().execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
        let copied = Connection::open(&copy).unwrap();
        copied.execute("UPDATE trainings SET name = 'From the copy'", []).unwrap();
        if kind.has_revisions {
            copied.execute("UPDATE states SET state = randomblob(16)", []).unwrap();
        }
        drop(copied);
        let tag = client.tag(LIST).await;
        fs::rename(&copy, host_app.database()).unwrap();
        let next = crate::wait_until_new(async || client.get(LIST, &tag).await, |next| next.status() != 304).await;
        assert_eq!(next.status(), 200, "{kind:?}");
        assert!(String::from_utf8_lossy(next.body()).contains("From the copy"), "{kind:?}");
    }
}

/// A copy is written into the same file after its WAL was removed, as operators restore backups. The host
/// application reopens it in a separate process: in this process, SQLite would continue to use the removed files.
#[tokio::test]
async fn file_restored_in_place_is_in_next_response() {
    for kind in kinds().filter(|kind| kind.journal_mode == "wal") {
        let (host_app, client) = served(kind).await;
        let database = host_app.database();
        let copy = host_app.directory.path().join("copy.db");
        host_app.writer().execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
        Connection::open(&copy).unwrap().pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())).unwrap();
        host_app.write("UPDATE trainings SET name = 'Not in the copy'");
        let tag = client.tag(LIST).await;
        for name in ["host.sqlite3-wal", "host.sqlite3-shm"] {
            fs::remove_file(host_app.directory.path().join(name)).unwrap();
        }
        fs::copy(&copy, &database).unwrap();
        for number in 0..4 {
            let name = format!("number {number}");
            let revision = if kind.has_revisions { "UPDATE states SET state = randomblob(16);" } else { "" };
            in_another_process(&database, &format!("BEGIN; UPDATE trainings SET name = '{name}'; {revision} COMMIT"));
            let is_new = |response: &Response<bytes::Bytes>| String::from_utf8_lossy(response.body()).contains(&name);
            // Only the restore may be noticed late; each later commit is in the next response.
            let next = match number {
                0 => crate::wait_until_new(async || client.get(LIST, &tag).await, is_new).await,
                _ => client.get(LIST, &tag).await,
            };
            assert_eq!(next.status(), 200, "{kind:?}");
            assert!(is_new(&next), "{kind:?} {number}: {next:?}");
        }
    }
}

/// Runs `sql` in a separate process, which shares no open file with this one.
pub(crate) fn in_another_process(database: &Path, sql: &str) {
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", "views::never_stale::child"]);
    let output = child.env("CATALOGUE_TEST_DATABASE", database).env("CATALOGUE_TEST_SQL", sql).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Does nothing unless [`in_another_process`] has started it.
#[test]
fn child() {
    if let (Ok(database), Ok(sql)) = (env::var("CATALOGUE_TEST_DATABASE"), env::var("CATALOGUE_TEST_SQL")) {
        Connection::open(database).unwrap().execute_batch(&sql).unwrap();
    }
}

/// A view that reads the clock changes without a commit, so its responses must not be cached.
#[tokio::test]
async fn volatile_views_disable_caching() {
    for has_revisions in [false, true] {
        let host_app = with_two_courses(Kind { has_revisions, ..PLAIN }).await;
        let views: String = host_app
            .writer()
            .query_row("SELECT sql FROM sqlite_schema WHERE name = 'catalogue_courses'", [], |row| row.get(0))
            .unwrap();
        for (hidden, is_cached) in [
            ("coalesce(t.live_at > datetime('now'), 0)", false),
            ("coalesce(t.live_at > strftime('%s', 'NOW', '-1 day'), 0)", false),
            ("coalesce(t.live_at > CURRENT_TIMESTAMP, 0)", false),
            ("coalesce(t.live_at > current_date, 0)", false),
            ("coalesce(t.live_at > datetime(), 0)", false),
            ("coalesce(t.live_at > strftime('%s'), 0)", false),
            ("random() % 1", false),
            ("coalesce(t.live_at > (SELECT instant FROM clock), 0)", false),
            ("coalesce(strftime('%s', t.live_at, '-1 day') > strftime('%s', '2030-01-01'), 0)", true),
        ] {
            host_app.write(&format!(
                "DROP VIEW IF EXISTS clock; CREATE VIEW clock AS SELECT unixepoch( 'now' ) AS instant;
                 DROP VIEW catalogue_courses; {}",
                views.replace("t.is_hidden AS hidden", &format!("{hidden} AS hidden"))
            ));
            let storage = SqliteStorage::open_views(host_app.keys(), host_app.database()).unwrap();
            let revision = storage.revision(&anna()).await.unwrap();
            assert_eq!(revision.is_some(), is_cached, "{hidden}");
            assert_eq!(storage.find_course(&anna(), "second").await.unwrap().revision, revision, "{hidden}");
        }
    }
}

/// The host application switches its journal mode between two requests.
#[tokio::test]
async fn responses_stay_fresh_after_switch_to_wal() {
    let (host_app, client) = served(Kind { journal_mode: "delete", ..PLAIN }).await;
    for number in 0..6 {
        if number == 3 {
            let mode = host_app.writer().query_row("PRAGMA journal_mode = wal", [], |row| row.get::<_, String>(0));
            assert_eq!(mode.unwrap(), "wal");
        }
        let tag = client.tag(LIST).await;
        assert_eq!(client.get(LIST, &tag).await.status(), 304);
        host_app.write(&format!("UPDATE trainings SET name = 'name {number}'"));
        assert!(client.text(LIST).await.1.contains(&format!("name {number}")));
    }
}

/// Revisions differ even if content returns to an earlier state. Revisions of the file also differ between storages.
#[tokio::test]
async fn revisions_never_repeat() {
    for kind in kinds().filter(|kind| kind.has_revisions || kind.journal_mode == "wal") {
        let host_app = HostApp::new(kind);
        let mut seen_revisions = HashSet::new();
        for number in 0..30 {
            host_app.put_courses(&two_courses(&anna())[..1 + number % 2]).await;
            let revision = host_app.storage.revision(&anna()).await.unwrap().unwrap();
            assert_eq!(host_app.storage.revision(&anna()).await.unwrap(), Some(revision), "{kind:?}");
            assert_eq!(
                host_app.storage.find_course(&anna(), "second").await.unwrap().revision,
                Some(revision),
                "{kind:?}"
            );
            assert!(seen_revisions.insert(revision), "{kind:?} {number}");
            // A row is the same for each storage; a revision derived from the file is unique to process and storage.
            let another = SqliteStorage::open_views(host_app.keys(), host_app.database()).unwrap();
            let another_revision = another.revision(&anna()).await.unwrap().unwrap();
            assert_eq!(another_revision == revision, kind.has_revisions, "{kind:?} {number}");
            assert!(seen_revisions.insert(another_revision) || kind.has_revisions, "{kind:?} {number}");
        }
    }
}

/// Without a WAL, two states of a file cannot be distinguished without reading it.
#[tokio::test]
async fn rollback_journal_without_revisions_disables_caching() {
    for kind in kinds().filter(|kind| !kind.has_revisions && kind.journal_mode != "wal") {
        let host_app = with_two_courses(kind).await;
        assert_eq!(host_app.storage.revision(&anna()).await.unwrap(), None, "{kind:?}");
        let found = host_app.storage.find_course(&anna(), "second").await.unwrap();
        assert!(found.value.is_some() && found.revision.is_none(), "{kind:?}");
    }
}

//! Opening two files, and what of them is left alone.

use std::fs;
use std::path::Path;

use catalogue_core::storage::CheckedRows;
use catalogue_sqlite::{Integrity, OpenError, SqliteStorage};
use rusqlite::Connection;

use super::host_app::{HostApp, Kind, PLAIN};
use super::{anna, slugs, two_courses};

/// What stands in the header of a file, and its tables, indexes and triggers.
fn marks(path: &Path) -> (i64, i64, String, Vec<String>) {
    let connection = Connection::open(path).unwrap();
    let number = |name| connection.pragma_query_value(None, name, |row| row.get(0)).unwrap();
    let mode = connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    let mut names = connection.prepare("SELECT name FROM sqlite_schema ORDER BY name").unwrap();
    let names = names.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    (number("application_id"), number("user_version"), mode, names)
}

#[tokio::test]
async fn the_other_programs_file_stays_as_it_is() {
    for journal_mode in ["delete", "wal"] {
        let host_app = HostApp::new(Kind { journal_mode, ..PLAIN });
        host_app.put(&two_courses());
        host_app.execute("PRAGMA application_id = 77; PRAGMA user_version = 12");
        let before = (fs::read(host_app.database()).unwrap(), marks(&host_app.database()));
        crate::key_of(&host_app.storage, &anna()).await;
        assert_eq!(slugs(&host_app).await.unwrap(), ["second", "first"]);
        host_app.storage.views().unwrap().check_views(CheckedRows::All).await.unwrap();
        host_app.storage.views().unwrap().check_plans().await.unwrap();
        assert_eq!((fs::read(host_app.database()).unwrap(), marks(&host_app.database())), before, "{journal_mode}");
        assert!(before.1.3.iter().all(|name| !name.contains("credential")));
    }
}

/// Whoever opens them can serve them, as far as views and columns go.
#[test]
fn views_and_columns_that_are_missing_are_told() {
    for (sql, view, what) in [
        ("DROP VIEW catalogue_accounts", "catalogue_accounts", "no such table"),
        ("DROP VIEW catalogue_courses", "catalogue_courses", "no such table"),
        ("DROP VIEW catalogue_modules", "catalogue_modules", "no such table"),
        (
            "DROP VIEW catalogue_accounts; CREATE VIEW catalogue_accounts AS SELECT login FROM people",
            "catalogue_accounts",
            "no column `id`",
        ),
        ("CREATE VIEW catalogue_revisions AS SELECT 1 AS account_id", "catalogue_revisions", "no column `revision`"),
    ] {
        let host_app = HostApp::new(PLAIN);
        host_app.execute(sql);
        let refused = SqliteStorage::open_and_migrate_views(host_app.keys(), host_app.database()).unwrap_err();
        let text = refused.to_string();
        let OpenError::Views { path, problems } = refused else { panic!("{sql}: {refused:?}") };
        assert_eq!((path, problems.len(), problems[0].view), (host_app.database(), 1, view), "{sql}: {problems:?}");
        assert!(text.contains(what) && text.contains(&format!("the courses cannot be read: {view}: ")), "{text}");
    }
}

/// Such builds kept keys in tables with a prefix, perhaps in the team's file.
#[test]
fn keys_of_an_unreleased_build_are_refused_by_name() {
    for (marked, version) in [(false, "catalogue_version"), (true, "catalogue_schema_version")] {
        let host_app = HostApp::new(PLAIN);
        let keys = if marked { host_app.database() } else { host_app.directory.path().join("old-keys.db") };
        let old = format!("CREATE TABLE {version} (version); CREATE TABLE catalogue_credentials (digest)");
        Connection::open(&keys).unwrap().execute_batch(&old).unwrap();
        let before = marks(&keys);
        for refused in [
            SqliteStorage::open_views(&keys, host_app.database()).map(|_| ()),
            SqliteStorage::migrate_views(&keys, host_app.database()).map(|_| ()),
            SqliteStorage::open(&keys).map(|_| ()),
        ] {
            let error = refused.unwrap_err();
            assert!(matches!(error, OpenError::UnreleasedSchema { beside_views: true, .. }), "{error}");
            assert!(error.to_string().contains("name a new file and create new keys"), "{error}");
        }
        assert_eq!(marks(&keys), before);
    }
}

/// Also by another name: a link.
#[cfg(unix)]
#[test]
fn keys_in_the_file_with_the_views_are_refused() {
    let host_app = HostApp::new(PLAIN);
    let link = host_app.directory.path().join("link.db");
    std::os::unix::fs::symlink(host_app.database(), &link).unwrap();
    for keys in [host_app.database(), link] {
        let refused = SqliteStorage::open_and_migrate_views(&keys, host_app.database()).unwrap_err();
        assert!(matches!(refused, OpenError::OtherTables(_)), "{refused:?}");
        assert!(refused.to_string().contains("need a file of their own: name a new one"), "{refused}");
    }
}

#[test]
fn what_cannot_be_opened_is_told_and_not_changed() {
    let host_app = HostApp::new(PLAIN);
    let path = |name: &str| host_app.directory.path().join(name);
    let missing = SqliteStorage::open_and_migrate_views(path("new.db"), path("no.sqlite3")).unwrap_err();
    assert!(matches!(&missing, OpenError::Missing(named) if *named == path("no.sqlite3")), "{missing:?}");
    assert!(!path("new.db").exists());
    let missing = SqliteStorage::open_views(path("new.db"), host_app.database()).unwrap_err();
    assert!(matches!(&missing, OpenError::Missing(named) if *named == path("new.db")), "{missing:?}");

    fs::write(path("text.txt"), "not a database, and long enough to look at it".repeat(30)).unwrap();
    let damaged = SqliteStorage::open_and_migrate_views(path("new.db"), path("text.txt")).unwrap_err();
    assert!(matches!(damaged, OpenError::NotADatabase(_)), "{damaged:?}");

    // Courses of our own, or of a third program, in the file for credentials.
    SqliteStorage::migrate(path("tables.db")).unwrap();
    let refused = SqliteStorage::migrate_views(path("tables.db"), host_app.database()).unwrap_err();
    assert!(matches!(refused, OpenError::OtherTables(_)), "{refused:?}");
    assert!(matches!(SqliteStorage::open(host_app.keys()), Err(OpenError::OtherApplication(_))));
    let refused = SqliteStorage::open_views(host_app.database(), path("tables.db")).unwrap_err();
    assert!(matches!(refused, OpenError::OtherTables(_)), "{refused:?}");

    Connection::open(host_app.keys()).unwrap().pragma_update(None, "user_version", 9).unwrap();
    let newer = SqliteStorage::open_and_migrate_views(host_app.keys(), host_app.database()).unwrap_err();
    assert!(matches!(newer, OpenError::NewerSchema { found: 9, known: 1, .. }), "{newer:?}");

    let wide = path("wide.sqlite3");
    Connection::open(&wide).unwrap().execute_batch("PRAGMA encoding = 'UTF-16'; CREATE TABLE t (a)").unwrap();
    let refused = SqliteStorage::open_and_migrate_views(path("new.db"), wide).unwrap_err();
    let source = std::error::Error::source(&refused).unwrap().to_string();
    assert!(source.contains("UTF-8"), "{source}");
}

/// A database with another program's unfinished change cannot be read, and must not be repaired here.
#[tokio::test]
async fn a_change_that_the_other_program_left_half_done_is_told() {
    let host_app = HostApp::new(Kind { journal_mode: "delete", ..PLAIN });
    host_app.put(&two_courses());
    crate::key_of(&host_app.storage, &anna()).await;
    let writer = host_app.writer();
    // Parts of the change are in the file before its end.
    writer.execute_batch("PRAGMA cache_size = 1; BEGIN; CREATE TABLE great (a)").unwrap();
    for _ in 0..200 {
        writer.execute("INSERT INTO great VALUES (zeroblob(5000))", []).unwrap();
    }
    let stopped = tempfile::tempdir().unwrap();
    for name in ["team.sqlite3", "team.sqlite3-journal", "keys.db"] {
        let copied =
            std::process::Command::new("cp").arg(host_app.directory.path().join(name)).arg(stopped.path()).status();
        assert!(copied.unwrap().success(), "{name}");
    }
    let [keys, courses] = ["keys.db", "team.sqlite3"].map(|name| stopped.path().join(name));
    let refused = SqliteStorage::open_views(&keys, &courses).unwrap_err();
    let source = std::error::Error::source(&refused).unwrap().to_string();
    assert!(source.contains("stopped within a change"), "{source}");
    // The program starts again.
    Connection::open(&courses).unwrap().query_row("SELECT count(*) FROM people", [], |_| Ok(())).unwrap();
    let storage = SqliteStorage::open_views(&keys, &courses).unwrap();
    let page = catalogue_core::storage::PageRequest::default();
    assert_eq!(crate::items(&storage, &anna(), &page).await.unwrap().len(), 2);
}

/// As where this user may not write beside it; a test may run as one who may write anywhere, so a link leads nowhere.
#[cfg(unix)]
#[test]
fn a_wal_whose_index_cannot_be_made_is_told() {
    let host_app = HostApp::new(PLAIN);
    let (keys, courses) = (host_app.keys(), host_app.database());
    let HostApp { storage, directory, .. } = host_app;
    drop(storage);
    // Who may write removes the WAL when nobody else has the file open.
    Connection::open(&courses).unwrap().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let index = directory.path().join("team.sqlite3-shm");
    assert!(!index.exists());
    std::os::unix::fs::symlink("/nowhere/index", &index).unwrap();
    let refused = SqliteStorage::open_views(&keys, &courses).unwrap_err();
    assert!(matches!(&refused, OpenError::WalWithoutIndex(path) if *path == courses), "{refused:?}");
    assert!(refused.to_string().contains("start its program first, or run this one as the user"), "{refused}");
    fs::remove_file(index).unwrap();
    SqliteStorage::open_views(keys, courses).unwrap();
}

/// The file of credentials is one of ours to back up and to check.
#[tokio::test]
async fn credentials_beside_views_are_backed_up_and_checked() {
    let host_app = HostApp::new(PLAIN);
    host_app.put(&two_courses());
    crate::key_of(&host_app.storage, &anna()).await;
    let within = std::time::Duration::from_secs(60);
    assert_eq!(SqliteStorage::quick_check(host_app.keys(), within).unwrap(), Integrity::Ok);
    let copy = host_app.directory.path().join("copy.db");
    let mut progress = |_, _| std::ops::ControlFlow::Continue(());
    assert!(SqliteStorage::back_up_to(host_app.keys(), &copy, &mut progress).unwrap().is_some());
    let keys = Connection::open(&copy).unwrap().query_row("SELECT count(*) FROM credentials", [], |row| row.get(0));
    assert_eq!(keys, Ok(1));
}

//! Opening the file with the keys, and the host application's file with the views, which is never modified.

use std::fs;
use std::path::Path;

use catalogue_core::storage::{CheckedRows, StorageErrorKind};
use catalogue_sqlite::{Integrity, OpenError, SqliteStorage};
use catalogue_storage_tests::database::key_of;
use catalogue_storage_tests::host_app::slugs;
use rusqlite::Connection;

use super::host_app::{HostApp, Kind, PLAIN};
use super::{anna, slugs_of_anna, with_two_courses};

/// Returns a file's `application_id` and `user_version`, its journal mode, and the names in its schema.
fn header_and_schema(path: &Path) -> (i64, i64, String, Vec<String>) {
    let connection = Connection::open(path).unwrap();
    let number = |name| connection.pragma_query_value(None, name, |row| row.get(0)).unwrap();
    let mode = connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    let mut names = connection.prepare("SELECT name FROM sqlite_schema ORDER BY name").unwrap();
    let names = names.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    (number("application_id"), number("user_version"), mode, names)
}

#[tokio::test]
async fn host_file_is_never_modified() {
    for journal_mode in ["delete", "wal"] {
        let host_app = with_two_courses(Kind { journal_mode, ..PLAIN }).await;
        host_app.write("PRAGMA application_id = 77; PRAGMA user_version = 12");
        let before = (fs::read(host_app.database()).unwrap(), header_and_schema(&host_app.database()));
        key_of(&host_app.storage, &anna()).await;
        assert_eq!(slugs_of_anna(&host_app).await.unwrap(), ["second", "first"]);
        host_app.storage.views().unwrap().check_views(CheckedRows::All).await.unwrap();
        host_app.storage.views().unwrap().check_plans().await.unwrap();
        assert_eq!(
            (fs::read(host_app.database()).unwrap(), header_and_schema(&host_app.database())),
            before,
            "{journal_mode}"
        );
        assert!(before.1.3.iter().all(|name| !name.contains("credential")));
    }
}

/// A storage that opens has all views and columns that it needs to serve. One that is already open reports the same problems.
#[tokio::test]
async fn missing_views_and_columns_are_reported_by_opening_and_check() {
    let without_id = "DROP VIEW catalogue_accounts; CREATE VIEW catalogue_accounts AS SELECT login FROM owners";
    for (sql, missing) in [
        ("DROP VIEW catalogue_accounts", &[("catalogue_accounts", "no such table")][..]),
        ("DROP VIEW catalogue_courses", &[("catalogue_courses", "no such table")]),
        ("DROP VIEW catalogue_modules", &[("catalogue_modules", "no such table")]),
        (without_id, &[("catalogue_accounts", "it has no column `id`")]),
        (
            "CREATE VIEW catalogue_revisions AS SELECT 1 AS account_id",
            &[("catalogue_revisions", "no column `revision`")],
        ),
        (
            &format!("DROP VIEW catalogue_modules; {without_id}"),
            &[("catalogue_accounts", "it has no column `id`"), ("catalogue_modules", "no such table")],
        ),
    ] {
        let host_app = with_two_courses(PLAIN).await;
        host_app.write(sql);
        let refused = SqliteStorage::open_and_migrate_views(host_app.keys(), host_app.database()).unwrap_err();
        let text = refused.to_string();
        assert!(text.contains(&format!("cannot read the courses: {}: ", missing[0].0)), "{text}");
        let OpenError::Views { path, problems } = refused else { panic!("{sql}: {refused:?}") };
        assert_eq!((path, problems.len()), (host_app.database(), missing.len()), "{sql}: {problems:?}");
        for (problem, (view, what)) in problems.iter().zip(missing) {
            assert!(problem.view == *view && problem.problem.contains(what), "{sql}: {problem:?}");
            let is_column = problem.problem == "it has no column `id`";
            assert!(!is_column || problem.expected == "`id`: text or integer, not null", "{problem:?}");
        }
        assert_eq!(super::problems(&host_app).await, problems, "{sql}");
        if missing.iter().any(|(view, _)| *view == "catalogue_courses") {
            let refused = slugs_of_anna(&host_app).await.unwrap_err();
            assert_eq!(refused.kind(), StorageErrorKind::Corrupt);
            assert!(refused.to_string().contains("views check"), "{refused}");
        }
    }
}

/// Unreleased builds stored keys in tables with a prefix, perhaps in the host application's file.
#[test]
fn unreleased_keys_schema_is_refused() {
    for (in_host_file, version) in [(false, "catalogue_version"), (true, "catalogue_schema_version")] {
        let host_app = HostApp::new(PLAIN);
        let keys = if in_host_file { host_app.database() } else { host_app.directory.path().join("old-keys.db") };
        let old = format!("CREATE TABLE {version} (version); CREATE TABLE catalogue_credentials (digest)");
        Connection::open(&keys).unwrap().execute_batch(&old).unwrap();
        let before = header_and_schema(&keys);
        for refused in [
            SqliteStorage::open_views(&keys, host_app.database()).map(|_| ()),
            SqliteStorage::migrate_views(&keys, host_app.database()).map(|_| ()),
            SqliteStorage::open(&keys).map(|_| ()),
        ] {
            let error = refused.unwrap_err();
            assert!(matches!(error, OpenError::UnreleasedSchema { beside_views: true, .. }), "{error}");
            assert!(error.to_string().contains("use a new file and create new keys"), "{error}");
        }
        assert_eq!(header_and_schema(&keys), before);
    }
}

/// A symbolic link does not hide that both files are the same.
#[cfg(unix)]
#[test]
fn keys_cannot_share_file_with_views() {
    let host_app = HostApp::new(PLAIN);
    let link = host_app.directory.path().join("link.db");
    std::os::unix::fs::symlink(host_app.database(), &link).unwrap();
    for keys in [host_app.database(), link] {
        let refused = SqliteStorage::open_and_migrate_views(&keys, host_app.database()).unwrap_err();
        assert!(matches!(refused, OpenError::OtherTables(_)), "{refused:?}");
        assert!(refused.to_string().contains("use a new file for the keys"), "{refused}");
    }
}

#[test]
fn opening_reports_unusable_files_without_changing_them() {
    let host_app = HostApp::new(PLAIN);
    let path = |name: &str| host_app.directory.path().join(name);
    let missing = SqliteStorage::open_and_migrate_views(path("new.db"), path("no.sqlite3")).unwrap_err();
    assert!(matches!(&missing, OpenError::Missing(named) if *named == path("no.sqlite3")), "{missing:?}");
    assert!(!path("new.db").exists());
    let missing = SqliteStorage::open_views(path("new.db"), host_app.database()).unwrap_err();
    assert!(matches!(&missing, OpenError::Missing(named) if *named == path("new.db")), "{missing:?}");

    fs::write(path("text.txt"), "not a database, but long enough to be read. ".repeat(30)).unwrap();
    let damaged = SqliteStorage::open_and_migrate_views(path("new.db"), path("text.txt")).unwrap_err();
    assert!(matches!(damaged, OpenError::NotADatabase(_)), "{damaged:?}");

    // A file with courses cannot be the one for keys, and a file with only keys cannot serve courses.
    SqliteStorage::migrate(path("tables.db")).unwrap();
    let refused = SqliteStorage::migrate_views(path("tables.db"), host_app.database()).unwrap_err();
    assert!(matches!(refused, OpenError::OtherTables(_)), "{refused:?}");
    assert!(matches!(SqliteStorage::open(host_app.keys()), Err(OpenError::OtherApplication(_))));
    let refused = SqliteStorage::open_views(host_app.database(), path("tables.db")).unwrap_err();
    assert!(matches!(refused, OpenError::Views { .. }), "{refused:?}");

    Connection::open(host_app.keys()).unwrap().pragma_update(None, "user_version", 9).unwrap();
    let newer = SqliteStorage::open_and_migrate_views(host_app.keys(), host_app.database()).unwrap_err();
    assert!(matches!(newer, OpenError::NewerSchema { found: 9, known: 1, .. }), "{newer:?}");

    let utf_16 = path("utf-16.sqlite3");
    Connection::open(&utf_16).unwrap().execute_batch("PRAGMA encoding = 'UTF-16'; CREATE TABLE t (a)").unwrap();
    let refused = SqliteStorage::open_and_migrate_views(path("new.db"), utf_16).unwrap_err();
    let source = std::error::Error::source(&refused).unwrap().to_string();
    assert!(source.contains("UTF-8"), "{source}");
}

/// A database with the host application's unfinished change cannot be read, and must not be repaired by the catalogue.
#[tokio::test]
async fn opening_reports_unfinished_write_of_host() {
    let host_app = with_two_courses(Kind { journal_mode: "delete", ..PLAIN }).await;
    key_of(&host_app.storage, &anna()).await;
    let writer = host_app.writer();
    // With a small cache, SQLite writes parts of the change to the file before the commit.
    writer.execute_batch("PRAGMA cache_size = 1; BEGIN; CREATE TABLE large (a)").unwrap();
    for _ in 0..200 {
        writer.execute("INSERT INTO large VALUES (zeroblob(5000))", []).unwrap();
    }
    let stopped = tempfile::tempdir().unwrap();
    for name in ["host.sqlite3", "host.sqlite3-journal", "keys.db"] {
        let copied =
            std::process::Command::new("cp").arg(host_app.directory.path().join(name)).arg(stopped.path()).status();
        assert!(copied.unwrap().success(), "{name}");
    }
    let [keys, courses] = ["keys.db", "host.sqlite3"].map(|name| stopped.path().join(name));
    let refused = SqliteStorage::open_views(&keys, &courses).unwrap_err();
    let source = std::error::Error::source(&refused).unwrap().to_string();
    assert!(source.contains("stopped during a write"), "{source}");
    // The host application starts again, which rolls the change back.
    Connection::open(&courses).unwrap().query_row("SELECT count(*) FROM owners", [], |_| Ok(())).unwrap();
    let storage = SqliteStorage::open_views(&keys, &courses).unwrap();
    assert_eq!(slugs(&storage, &anna(), 50).await.unwrap().len(), 2);
}

/// A dangling link at the index simulates a directory without write permission, since a test may run as the superuser.
#[cfg(unix)]
#[test]
fn opening_reports_wal_without_index() {
    let host_app = HostApp::new(PLAIN);
    let (keys, courses) = (host_app.keys(), host_app.database());
    let HostApp { storage, directory, .. } = host_app;
    drop(storage);
    // Closing the last connection removes the WAL and its index, which needs write permission.
    Connection::open(&courses).unwrap().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let index = directory.path().join("host.sqlite3-shm");
    assert!(!index.exists());
    std::os::unix::fs::symlink("/nowhere/index", &index).unwrap();
    let refused = SqliteStorage::open_views(&keys, &courses).unwrap_err();
    assert!(matches!(&refused, OpenError::WalWithoutIndex(path) if *path == courses), "{refused:?}");
    assert!(refused.to_string().contains("start its program first, or run catalogue as that"), "{refused}");
    fs::remove_file(index).unwrap();
    SqliteStorage::open_views(keys, courses).unwrap();
}

/// The file of credentials belongs to the catalogue, so it can be backed up and checked.
#[tokio::test]
async fn credential_file_can_be_backed_up_and_checked() {
    let host_app = with_two_courses(PLAIN).await;
    key_of(&host_app.storage, &anna()).await;
    let within = std::time::Duration::from_secs(60);
    assert_eq!(SqliteStorage::quick_check(host_app.keys(), within).unwrap(), Integrity::Ok);
    let copy = host_app.directory.path().join("copy.db");
    let mut progress = |_, _| std::ops::ControlFlow::Continue(());
    assert!(SqliteStorage::back_up_to(host_app.keys(), &copy, &mut progress).unwrap().is_some());
    let keys = Connection::open(&copy).unwrap().query_row("SELECT count(*) FROM credentials", [], |row| row.get(0));
    assert_eq!(keys, Ok(1));
}

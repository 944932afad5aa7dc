//! Copies of a database while another connection writes to it.

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use catalogue_core::admin::{Accounts, AdminStorage, Record};
use catalogue_core::storage::StorageErrorKind;
use catalogue_sqlite::{BackupError, OpenError, SqliteStorage};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::{database_in, fixture, import_one_course};

const MIB: usize = 1 << 20;

/// Returns a storage of some MiB with its directory and its file's path, and a path without a file for the copy.
async fn large_database() -> (SqliteStorage, TempDir, PathBuf, PathBuf) {
    let (storage, directory) = fixture().await;
    import_one_course(&storage).await;
    let (path, copy) = (database_in(&directory), directory.path().join("copy"));
    Connection::open(&path).unwrap().execute("UPDATE module_contents SET content = ?1", ["x".repeat(4 * MIB)]).unwrap();
    (storage, directory, path, copy)
}

async fn records(path: &Path) -> Vec<Record> {
    let mut records = Vec::new();
    let storage = SqliteStorage::open(path).unwrap();
    let mut visit = |record| {
        records.push(record);
        ControlFlow::Continue(())
    };
    storage.export(Accounts::All, &mut visit).await.unwrap();
    records
}

#[tokio::test]
async fn backup_is_a_snapshot_and_never_restarts_during_writes() {
    let (_storage, _directory, path, copy) = large_database().await;
    let before = records(&path).await;
    let writer = Connection::open(&path).unwrap();
    let mut reports = Vec::new();
    let outcome = SqliteStorage::back_up_to(&path, &copy, &mut |copied, total| {
        let number = reports.len();
        writer.execute("UPDATE courses SET title = 'New ' || ?1", [number as u32]).unwrap();
        writer.execute("UPDATE module_contents SET content = content || ?1", [number.to_string()]).unwrap();
        reports.push((copied, total));
        assert!(reports.len() < 100, "{reports:?}");
        ControlFlow::Continue(())
    });
    assert_eq!(outcome.unwrap(), Some(fs::metadata(&copy).unwrap().len()));
    // The last report repeats the one before it, once the copy is on the disk.
    assert_eq!(reports.pop().as_ref(), reports.last());
    assert!(reports.len() > 4 && reports.iter().all(|(_, total)| *total == reports[0].1), "{reports:?}");
    assert!(reports.windows(2).all(|pair| pair[0].0 < pair[1].0), "{reports:?}");
    assert_eq!(
        reports.last().map(|(copied, total)| (*copied, *total)),
        Some((reports[0].1, fs::metadata(&copy).unwrap().len()))
    );
    assert_eq!(records(&copy).await, before);
    assert_ne!(records(&path).await, before);
    let check = Connection::open(&copy).unwrap().query_row("PRAGMA integrity_check", [], |row| row.get(0));
    assert_eq!(check, Ok("ok".to_owned()));
}

#[tokio::test]
async fn canceled_backup_leaves_no_file() {
    let (_storage, directory, path, copy) = large_database().await;
    let existing = directory.path().join("existing");
    File::create_new(&existing).unwrap();
    let back_up = |target: &Path, calls: usize| {
        let mut remaining = calls;
        SqliteStorage::back_up_to(&path, target, &mut |_, _| {
            remaining = remaining.saturating_sub(1);
            if remaining == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    };
    assert!(matches!(back_up(&directory.path().join("none").join("copy.db"), 1), Err(BackupError::MissingDirectory)));
    assert_eq!(back_up(&copy, 1).unwrap(), None);
    let is_of_copy = |name: &str| name.starts_with(".catalogue-") || name == "copy";
    let mut names = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!names.any(|name| is_of_copy(name.to_str().unwrap())));
    assert_eq!(back_up(&copy, usize::MAX).unwrap(), Some(copy.metadata().unwrap().len()));
    assert!(matches!(back_up(&existing, 1), Err(BackupError::AlreadyExists)));
    SqliteStorage::open(&copy).unwrap();
}

#[tokio::test]
async fn backup_copies_newer_schema_but_rejects_other_databases() {
    let (_storage, directory, path, copy) = large_database().await;
    let mut proceed = |_, _| ControlFlow::Continue(());
    let version =
        |path: &Path| Connection::open(path).unwrap().pragma_query_value(None, "user_version", |row| row.get(0));
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    assert!(SqliteStorage::back_up_to(&path, &copy, &mut proceed).unwrap().is_some());
    assert_eq!(version(&copy), Ok(99));
    assert!(matches!(SqliteStorage::open(&copy), Err(OpenError::NewerSchema { found: 99, .. })));

    let other = directory.path().join("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
    for (path, what) in [(other, "another program"), (directory.path().join("missing"), "no database at")] {
        let refused = SqliteStorage::back_up_to(&path, directory.path().join("new"), &mut proceed);
        let Err(BackupError::Copy(refused)) = refused else { panic!("{refused:?}") };
        assert_eq!(refused.kind(), StorageErrorKind::Unavailable);
        assert!(refused.to_string().contains(what), "{refused}");
    }
    assert!(!directory.path().join("missing").exists());
}

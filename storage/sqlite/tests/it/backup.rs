//! A copy of a database that is written to meanwhile.

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

/// A database of some MiB, and a path where nothing is.
async fn some_mib() -> (SqliteStorage, TempDir, PathBuf, PathBuf) {
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
async fn a_copy_is_of_one_moment_and_no_write_starts_it_over() {
    let (_storage, _directory, path, copy) = some_mib().await;
    let before = records(&path).await;
    let writer = Connection::open(&path).unwrap();
    let mut reports = Vec::new();
    let outcome = SqliteStorage::back_up_to(&path, &copy, &mut |done, of| {
        let number = reports.len();
        writer.execute("UPDATE courses SET title = 'New ' || ?1", [number as u32]).unwrap();
        writer.execute("UPDATE module_contents SET content = content || ?1", [number.to_string()]).unwrap();
        reports.push((done, of));
        assert!(reports.len() < 100, "{reports:?}");
        ControlFlow::Continue(())
    });
    assert_eq!(outcome.unwrap(), Some(fs::metadata(&copy).unwrap().len()));
    // The last report is that the copy is on the disk.
    assert_eq!(reports.pop().as_ref(), reports.last());
    assert!(reports.len() > 4 && reports.iter().all(|(_, of)| *of == reports[0].1), "{reports:?}");
    assert!(reports.windows(2).all(|pair| pair[0].0 < pair[1].0), "{reports:?}");
    assert_eq!(reports.last().map(|(done, of)| (*done, *of)), Some((reports[0].1, fs::metadata(&copy).unwrap().len())));
    assert_eq!(records(&copy).await, before);
    assert_ne!(records(&path).await, before);
    let check = Connection::open(&copy).unwrap().query_row("PRAGMA integrity_check", [], |row| row.get(0));
    assert_eq!(check, Ok("ok".to_owned()));
}

#[tokio::test]
async fn a_copy_at_a_path_is_whole_or_not_there() {
    let (_storage, directory, path, copy) = some_mib().await;
    let there = directory.path().join("there");
    File::create_new(&there).unwrap();
    let back_up = |target: &Path, calls: usize| {
        let mut left = calls;
        SqliteStorage::back_up_to(&path, target, &mut |_, _| {
            left = left.saturating_sub(1);
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    };
    assert!(matches!(back_up(&directory.path().join("none").join("copy.db"), 1), Err(BackupError::MissingDirectory)));
    assert_eq!(back_up(&copy, 1).unwrap(), None);
    let is_left = |name: &str| name.starts_with(".catalogue-") || name == "copy";
    let mut names = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!names.any(|name| is_left(name.to_str().unwrap())));
    assert_eq!(back_up(&copy, usize::MAX).unwrap(), Some(copy.metadata().unwrap().len()));
    assert!(matches!(back_up(&there, 1), Err(BackupError::AlreadyExists)));
    SqliteStorage::open(&copy).unwrap();
}

#[tokio::test]
async fn a_database_of_another_version_is_copied_too_and_no_other_file() {
    let (_storage, directory, path, copy) = some_mib().await;
    let mut go_on = |_, _| ControlFlow::Continue(());
    let version =
        |path: &Path| Connection::open(path).unwrap().pragma_query_value(None, "user_version", |row| row.get(0));
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    assert!(SqliteStorage::back_up_to(&path, &copy, &mut go_on).unwrap().is_some());
    assert_eq!(version(&copy), Ok(99));
    assert!(matches!(SqliteStorage::open(&copy), Err(OpenError::NewerSchema { found: 99, .. })));

    let other = directory.path().join("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
    for (path, what) in [(other, "another program"), (directory.path().join("missing"), "no database at")] {
        let refused = SqliteStorage::back_up_to(&path, directory.path().join("new"), &mut go_on);
        let Err(BackupError::Copy(refused)) = refused else { panic!("{refused:?}") };
        assert_eq!(refused.kind(), StorageErrorKind::Unavailable);
        assert!(refused.to_string().contains(what), "{refused}");
    }
    assert!(!directory.path().join("missing").exists());
}

//! Responses after changes of the database's files: each reflects what was committed before the request arrived.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bytes::Bytes;
use catalogue_storage_tests::freshness::{self, DETAIL, LIST, assert_contains};
use http::Response;
use rusqlite::Connection;

use crate::views::never_stale::in_another_process;
use crate::{Sqlite, wait_until_new};

type Watched = freshness::Watched<Sqlite>;

/// Gets `path` until the replacement of the file is noticed.
async fn get_uncached(watched: &Watched, path: &str, tag: &str) -> Response<Bytes> {
    wait_until_new(async || watched.get(path, tag).await, |response| response.status() != 304).await
}

/// Copies the database as it is now.
fn back_up(watched: &Watched, name: &str) -> PathBuf {
    let copy = file(watched, name);
    watched.database.open_host().execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
    copy
}

/// Returns the path of another file in the database's directory.
fn file(watched: &Watched, name: &str) -> PathBuf {
    watched.database.directory.path().join(name)
}

fn truncate_wal(watched: &Watched) {
    watched.database.open_host().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
}

/// Copies by another process: closing the file in this process would drop the locks that SQLite holds on it.
fn copy_over(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg(from).arg(to).status().unwrap().success());
}

#[tokio::test]
async fn overwritten_file_is_in_next_response() {
    let watched = Watched::new().await.unwrap();
    let copy = back_up(&watched, "copy.db");
    Connection::open(&copy).unwrap().execute("UPDATE courses SET title = 'From the copy'", []).unwrap();
    truncate_wal(&watched);
    let database = watched.database.path();
    assert!(Command::new("touch").args(["-d", "2001-01-01"]).arg(&database).status().unwrap().success());
    let tags = [watched.tag(LIST).await, watched.tag(DETAIL).await];
    copy_over(&copy, &database);
    for (path, tag) in [LIST, DETAIL].into_iter().zip(tags) {
        let next = get_uncached(&watched, path, &tag).await;
        assert_contains(&next, "From the copy");
    }
}

/// SQLite forbids removing the index while a program has the database open; another program then creates a new one.
#[tokio::test]
async fn changes_are_in_next_response_after_wal_index_removal() {
    let watched = Watched::new().await.unwrap();
    for number in 0..3 {
        let tag = watched.tag(LIST).await;
        assert_eq!(watched.get(LIST, &tag).await.status(), 304);
        fs::remove_file(file(&watched, "catalogue.db-shm")).unwrap();
        let title = format!("title {number}");
        in_another_process(&watched.database.path(), &format!("UPDATE courses SET title = '{title}'"));
        let next = get_uncached(&watched, LIST, &tag).await;
        assert_contains(&next, &title);
    }
    assert_eq!(watched.get(LIST, "").await.status(), 200);
    fs::remove_file(file(&watched, "catalogue.db-shm")).unwrap();
    in_another_process(&watched.database.path(), "UPDATE credentials SET revoked_at = 1");
    let next = wait_until_new(async || watched.get(LIST, "").await, |response| response.status() == 401).await;
    assert_eq!(next.status(), 401);
}

#[tokio::test]
async fn restored_backup_is_in_next_response_and_never_matches_earlier_etags() {
    let watched = Watched::new().await.unwrap();
    let copy = back_up(&watched, "copy.db");
    watched.database.open_host().execute("UPDATE courses SET title = 'Later'", []).unwrap();
    let later = watched.tag(LIST).await;

    fs::rename(&copy, watched.database.path()).unwrap();
    let restored = get_uncached(&watched, LIST, &later).await;
    assert_contains(&restored, "\"Course\"");
    // As many changes as before: a counter would now have the same value as before the restore.
    watched.database.open_host().execute("UPDATE courses SET title = 'Otherwise'", []).unwrap();
    let next = watched.get(LIST, &later).await;
    assert_contains(&next, "Otherwise");
}

#[tokio::test]
async fn missing_file_returns_500_instead_of_404() {
    let watched = Watched::new().await.unwrap();
    watched.get(LIST, "").await;
    fs::rename(watched.database.path(), file(&watched, "elsewhere.db")).unwrap();
    let failed = wait_until_new(async || watched.get(LIST, "").await, |response| response.status() != 200).await;
    assert_eq!(failed.status(), 500);
    fs::rename(file(&watched, "elsewhere.db"), watched.database.path()).unwrap();
    assert_eq!(watched.get(LIST, "").await.status(), 200);
}

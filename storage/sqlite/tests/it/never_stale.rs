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

/// Like [`back_up`], but with another title of the course.
fn back_up_with_title(watched: &Watched, title: &str) -> PathBuf {
    let copy = back_up(watched, title);
    Connection::open(&copy).unwrap().execute("UPDATE courses SET title = ?1", [title]).unwrap();
    copy
}

/// Returns the path of another file in the database's directory.
fn file(watched: &Watched, name: &str) -> PathBuf {
    watched.database.directory.path().join(name)
}

fn truncate_wal(watched: &Watched) {
    watched.database.open_host().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
}

#[tokio::test]
async fn replaced_file_is_in_next_response() {
    let watched = Watched::new().await.unwrap();
    let copy = back_up_with_title(&watched, "From the copy");
    let tag = watched.tag(LIST).await;
    fs::rename(&copy, watched.database.path()).unwrap();
    let next = get_uncached(&watched, LIST, &tag).await;
    assert_contains(&next, "From the copy");
}

/// Copies by another process: closing the file in this process would drop the locks that SQLite holds on it.
fn copy_over(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg(from).arg(to).status().unwrap().success());
}

#[tokio::test]
async fn overwritten_file_is_in_next_response() {
    let watched = Watched::new().await.unwrap();
    let copy = back_up_with_title(&watched, "From the copy");
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

/// Without the lock on the index, the next program that opens the database takes the index for abandoned and truncates it.
/// This process still has it mapped into memory.
#[tokio::test]
#[cfg(target_os = "linux")]
async fn wal_index_stays_locked_when_file_is_replaced() {
    use std::os::unix::fs::MetadataExt as _;

    let watched = Watched::new().await.unwrap();
    for round in 0..3 {
        let copy = back_up(&watched, &format!("copy {round}.db"));
        let copied = Connection::open(&copy).unwrap();
        copied.query_row("PRAGMA journal_mode = wal", [], |_| Ok(())).unwrap();
        copied.execute("UPDATE courses SET title = ?1", [format!("round {round}")]).unwrap();
        drop(copied);
        truncate_wal(&watched);
        let tag = watched.tag(LIST).await;
        // WAL and index of the old file stay.
        fs::rename(&copy, watched.database.path()).unwrap();
        let next = get_uncached(&watched, LIST, &tag).await;
        assert_contains(&next, &format!("round {round}"));
        watched.get(DETAIL, "").await;
        let index = fs::metadata(file(&watched, "catalogue.db-shm")).unwrap().ino();
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
async fn changed_backup_never_matches_earlier_etags() {
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

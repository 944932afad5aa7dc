//! Database files that are moved or replaced under running servers.
//!
//! The servers of [`Linked`] open the database through a symlink to its directory. While the link points to `there`, requests
//! make them close the files in `here`. The last connection to close removes WAL and WAL index; the next one creates them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::fixture::{Fixture, change, fill, remove_wal, sibling};
use super::sql::Sql;
use super::{DETAIL, LIST};
use crate::program::TestDir;

/// Two databases in separate directories, which differ in one change, and servers whose path leads to the first.
struct Linked(Fixture);

/// Paths of the two databases.
const HERE: &str = "here/catalogue.db";
const THERE: &str = "there/catalogue.db";

impl Linked {
    fn new() -> Self {
        Self::in_dir(TestDir::in_memory())
    }

    fn in_dir(dir: TestDir) -> Self {
        fs::create_dir(dir.path("here")).unwrap();
        fs::create_dir(dir.path("there")).unwrap();
        fill(&dir, HERE);
        symlink("here", dir.path("live")).unwrap();
        let fixture = Fixture::over(dir, "live/catalogue.db");
        // After `Fixture::over`, so that the copy contains the readers' key.
        let mut sql = Sql::open(&fixture.dir.path(HERE));
        sql.run(&format!("VACUUM INTO '{}'", fixture.dir.path(THERE).display()));
        sql.close();
        let mut other = Sql::open(&fixture.dir.path(THERE));
        other.run("PRAGMA journal_mode = wal");
        other.run(&change("There"));
        other.close();
        Self(fixture)
    }

    /// Makes the link point to `directory`.
    fn point_link_to(&mut self, directory: &str) {
        symlink(directory, self.0.dir.path("next")).unwrap();
        fs::rename(self.0.dir.path("next"), self.0.dir.path("live")).unwrap();
        self.0.wait_for_file_check();
    }

    /// Points the link to `there` and sends requests, so that the servers close the files in `here`.
    fn point_link_away(&mut self) {
        self.point_link_to("there");
        self.0.assert_responses(LIST, 200, "There");
        self.0.assert_responses(DETAIL, 200, "There");
    }

    fn point_link_back(&mut self) {
        self.point_link_to("here");
    }

    fn here(&self) -> Sql {
        Sql::open(&self.0.dir.path(HERE))
    }
}

#[test]
fn restored_symlink_keeps_etags() {
    let mut linked = Linked::new();
    for _ in 0..5 {
        linked.point_link_away();
        linked.point_link_back();
        linked.0.assert_not_modified();
    }
    linked.0.sql().run(&change("at last"));
    linked.0.assert_new("at last");
}

/// A recreated WAL can have the same WAL index as the removed one although the database has changed.
#[test]
fn commit_while_symlink_points_elsewhere_is_seen() {
    let mut linked = Linked::new();
    for number in 0..5 {
        linked.point_link_away();
        let text = format!("number {number}");
        let mut sql = linked.here();
        sql.run(&change(&text));
        sql.close();
        let wal = sibling(&linked.0.dir.path(HERE), "-wal");
        assert!(!wal.exists(), "the last connection to close removes the WAL");
        linked.point_link_back();
        linked.0.assert_new(&text);
    }
}

#[test]
fn commit_in_leftover_wal_of_killed_writer_is_seen() {
    let mut linked = Linked::new();
    for number in 0..5 {
        linked.point_link_away();
        let text = format!("number {number}");
        let mut sql = linked.here();
        sql.run(&change(&text));
        sql.run("BEGIN IMMEDIATE");
        sql.run(&change("never committed"));
        sql.kill();
        linked.point_link_back();
        linked.0.assert_new(&text);
        let mut sql = linked.here();
        sql.run(&change(&format!("after {text}")));
        linked.0.assert_new(&format!("after {text}"));
        sql.close();
    }
}

#[test]
fn commit_without_shared_wal_index_is_seen() {
    let mut linked = Linked::new();
    for number in 0..5 {
        linked.point_link_away();
        let text = format!("number {number}");
        let here = linked.0.dir.path(HERE);
        let mut sql = Sql::open_exclusively(&here);
        sql.run(&change(&text));
        sql.close();
        linked.point_link_back();
        linked.0.assert_new(&text);
        linked.0.sql().run(&change(&format!("after {text}")));
        linked.0.assert_new(&format!("after {text}"));
    }
}

/// Some file systems, such as ext4 but not tmpfs, reuse the inode number of a removed file for the next file.
#[test]
fn commit_in_recreated_file_is_seen() {
    let mut linked = Linked::in_dir(TestDir::new());
    let (here, copy) = (linked.0.dir.path(HERE), linked.0.dir.path("copy.db"));
    for number in 0..5 {
        linked.point_link_away();
        let text = format!("number {number}");
        let mut sql = linked.here();
        sql.run(&change(&text));
        sql.run("PRAGMA wal_checkpoint(TRUNCATE)");
        sql.close();
        fs::copy(&here, &copy).unwrap();
        fs::remove_file(&here).unwrap();
        fs::copy(&copy, &here).unwrap();
        linked.point_link_back();
        linked.0.assert_new(&text);
    }
}

#[test]
fn replacement_file_is_read_immediately() {
    let dir = TestDir::in_memory();
    fill(&dir, "catalogue.db");
    let mut fixture = Fixture::over(dir, "catalogue.db");
    for number in 0..5 {
        let text = format!("file {number}");
        let next = fixture.dir.path("next.db");
        fixture.sql().run(&format!("VACUUM INTO '{}'", next.display()));
        let mut sql = Sql::open(&next);
        sql.run("PRAGMA journal_mode = wal");
        sql.run(&change(&text));
        sql.close();
        replace_database(&mut fixture, &next);
        fixture.assert_new(&text);
        fixture.sql().run(&change(&format!("after {text}")));
        fixture.assert_new(&format!("after {text}"));
    }
}

/// Replaces the database by `file` after a full checkpoint, and waits until the servers have noticed.
fn replace_database(fixture: &mut Fixture, file: &Path) {
    let mut sql = fixture.sql();
    assert!(sql.run("PRAGMA wal_checkpoint(TRUNCATE)").starts_with("0 "));
    sql.close();
    remove_wal(fixture.database());
    fs::rename(file, fixture.database()).unwrap();
    fixture.wait_for_file_check();
}

/// If the revision were a counter, as many changes after the restore as before it would repeat an earlier revision.
#[test]
fn changed_backup_does_not_match_earlier_etags() {
    let mut fixture = Fixture::new();
    for round in 0..3 {
        let backup = fixture.dir.path("backup.db");
        fixture.sql().run(&format!("VACUUM INTO '{}'", backup.display()));
        let mut sql = fixture.sql();
        for number in 0..3 {
            sql.run(&change(&format!("later {round} {number}")));
        }
        fixture.assert_new(&format!("later {round} 2"));
        let tags: Vec<_> = fixture.readers.iter().map(|reader| reader.tag(LIST)).collect();
        sql.close();

        replace_database(&mut fixture, &backup);
        for (reader, tag) in fixture.readers.iter_mut().zip(&tags) {
            let response = reader.get(LIST, tag);
            assert!(response.status == 200 && !response.body.contains("later"), "{response:?}");
        }
        let mut sql = fixture.sql();
        for number in 0..3 {
            sql.run(&change(&format!("other {round} {number}")));
        }
        // The readers still send the ETags from before the restore.
        fixture.assert_new(&format!("other {round} 2"));
    }
}

#[test]
fn missing_file_returns_500_until_restored() {
    let mut fixture = Fixture::new();
    let moved = fixture.dir.path("away.db");
    for number in 0..3 {
        let mut sql = fixture.sql();
        sql.run("PRAGMA wal_checkpoint(TRUNCATE)");
        sql.close();
        fs::rename(fixture.database(), &moved).unwrap();
        fixture.wait_for_file_check();
        fixture.assert_responses(LIST, 500, "internal_error");
        fixture.assert_responses(DETAIL, 500, "internal_error");
        fs::rename(&moved, fixture.database()).unwrap();
        fixture.assert_not_modified();
        let text = format!("number {number}");
        fixture.sql().run(&change(&text));
        fixture.assert_new(&text);
    }
}

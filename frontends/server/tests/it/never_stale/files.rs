//! Files change places under the running servers.
//!
//! The servers reach the database through a symbolic link to its directory. While the link leads elsewhere and the servers
//! are asked, they let go of the files here, so that log and index are removed and made anew.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::fixture::{Fixture, change, fill, remove_wal, sibling};
use super::sql::Sql;
use super::{DETAIL, LIST};
use crate::program::TestDir;

/// Two databases of the same content in directories of their own, and servers that reach the first.
struct Linked(Fixture);

/// The two databases.
const HERE: &str = "here/catalogue.db";
const THERE: &str = "there/catalogue.db";

impl Linked {
    fn new() -> Self {
        Self::in_place(TestDir::in_memory())
    }

    fn in_place(dir: TestDir) -> Self {
        fs::create_dir(dir.path("here")).unwrap();
        fs::create_dir(dir.path("there")).unwrap();
        fill(&dir, HERE);
        symlink("here", dir.path("live")).unwrap();
        let fixture = Fixture::over(dir, "live/catalogue.db");
        // With the key that the readers have.
        let mut sql = Sql::open(&fixture.dir.path(HERE));
        sql.run(&format!("VACUUM INTO '{}'", fixture.dir.path(THERE).display()));
        sql.close();
        let mut there = Sql::open(&fixture.dir.path(THERE));
        there.run("PRAGMA journal_mode = wal");
        there.run(&change("There"));
        there.close();
        Self(fixture)
    }

    /// The path leads to the other directory from now on.
    fn point_link_to(&mut self, directory: &str) {
        symlink(directory, self.0.dir.path("next")).unwrap();
        fs::rename(self.0.dir.path("next"), self.0.dir.path("live")).unwrap();
        self.0.wait_for_file_check();
    }

    /// The servers are asked while the path leads elsewhere, and so let go of the files here.
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
fn a_link_that_leads_elsewhere_and_back() {
    let mut linked = Linked::new();
    for _ in 0..5 {
        linked.point_link_away();
        linked.point_link_back();
        linked.0.assert_not_modified();
    }
    linked.0.sql().run(&change("at last"));
    linked.0.assert_new("at last");
}

/// The index of a log that was removed and made anew looks the same before and after, whatever is in the database.
#[test]
fn a_commit_while_the_path_leads_elsewhere() {
    let mut linked = Linked::new();
    for number in 0..5 {
        linked.point_link_away();
        let text = format!("number {number}");
        let mut sql = linked.here();
        sql.run(&change(&text));
        sql.close();
        let log = sibling(&linked.0.dir.path(HERE), "-wal");
        assert!(!log.exists(), "the last to close the database removes its log");
        linked.point_link_back();
        linked.0.assert_new(&text);
    }
}

#[test]
fn a_log_that_a_killed_writer_left_behind() {
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

/// Such a writer keeps the index in its own memory; the file of the index stays as it was before the commits.
#[test]
fn a_writer_that_does_without_the_index() {
    let mut linked = Linked::new();
    for number in 0..5 {
        linked.point_link_away();
        let text = format!("number {number}");
        let mut sql = linked.here();
        sql.run("PRAGMA locking_mode = exclusive");
        sql.run(&change(&text));
        sql.close();
        linked.point_link_back();
        linked.0.assert_new(&text);
        linked.0.sql().run(&change(&format!("after {text}")));
        linked.0.assert_new(&format!("after {text}"));
    }
}

/// On most disks a file that was removed leaves its number to the next one.
#[test]
fn a_file_that_is_removed_and_made_anew() {
    let mut linked = Linked::in_place(TestDir::new());
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
fn a_file_that_takes_the_place_of_another() {
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

/// Puts a file in the place of the database, once its log is written back, and has it noticed.
fn replace_database(fixture: &mut Fixture, file: &Path) {
    let mut sql = fixture.sql();
    assert!(sql.run("PRAGMA wal_checkpoint(TRUNCATE)").starts_with("0 "));
    sql.close();
    remove_wal(fixture.database());
    fs::rename(file, fixture.database()).unwrap();
    fixture.wait_for_file_check();
}

/// A counter of changes would stand where it stood, after as many changes to the older file.
#[test]
fn a_restored_file_that_is_changed_matches_no_tag_of_before() {
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
            let response = reader.ask(LIST, tag);
            assert!(response.status == 200 && !response.body.contains("later"), "{response:?}");
        }
        let mut sql = fixture.sql();
        for number in 0..3 {
            sql.run(&change(&format!("other {round} {number}")));
        }
        // The tags are still those of before the restoring.
        fixture.assert_new(&format!("other {round} 2"));
    }
}

#[test]
fn a_file_that_is_gone_and_comes_back_changed() {
    let mut fixture = Fixture::new();
    let away = fixture.dir.path("away.db");
    for number in 0..3 {
        let mut sql = fixture.sql();
        sql.run("PRAGMA wal_checkpoint(TRUNCATE)");
        sql.close();
        fs::rename(fixture.database(), &away).unwrap();
        fixture.wait_for_file_check();
        fixture.assert_responses(LIST, 500, "internal_error");
        fixture.assert_responses(DETAIL, 500, "internal_error");
        fs::rename(&away, fixture.database()).unwrap();
        fixture.assert_not_modified();
        let text = format!("number {number}");
        fixture.sql().run(&change(&text));
        fixture.assert_new(&text);
    }
}

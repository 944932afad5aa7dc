//! Database files that are moved or replaced under running servers.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::fixture::{Fixture, change, sibling};
use super::sql::Sql;
use super::{DETAIL, LIST};
use crate::program::TestDir;

/// Changes the database at a path to contain a title.
type Change = fn(&Path, &str);

/// Changes of a database that the servers have closed, with the commit that its next response must show.
const CHANGES: [(&str, Change); 4] = [
    // A recreated WAL can have the same WAL index as the removed one although the database has changed.
    ("by a writer that closed it", |database, text| {
        Sql::open(database).run_and_close(&[&change(text)]);
        assert!(!sibling(database, "-wal").exists(), "the last connection to close removes the WAL");
    }),
    ("in the leftover WAL of a killed writer", |database, text| {
        let mut sql = Sql::open(database);
        sql.run(&change(text));
        sql.run("BEGIN IMMEDIATE");
        sql.run(&change("never committed"));
        sql.kill();
    }),
    ("without a shared WAL index", |database, text| {
        Sql::open_exclusively(database).run_and_close(&[&change(text)]);
    }),
    // Some file systems, such as ext4 but not tmpfs, reuse the inode number of a removed file for the next file.
    ("in a recreated file", |database, text| {
        Sql::open(database).run_and_close(&[&change(text), "PRAGMA wal_checkpoint(TRUNCATE)"]);
        let copy = sibling(database, "-copy");
        fs::copy(database, &copy).unwrap();
        fs::remove_file(database).unwrap();
        fs::copy(copy, database).unwrap();
    }),
];

/// Two databases that differ in one change, and servers that open one of them through a symlink to its directory.
struct Linked<'d>(Fixture<'d>);

impl Linked<'_> {
    /// Makes the link point to `directory`.
    fn point_link_to(&mut self, directory: &str) {
        symlink(directory, self.0.dir.path("next")).unwrap();
        fs::rename(self.0.dir.path("next"), self.0.dir.path("live")).unwrap();
        self.0.wait_for_file_check();
    }

    /// Points the link to `there` and sends requests, so that the servers close the files in `here`. The last connection to
    /// close removes WAL and WAL index; the next one creates them.
    fn point_link_away(&mut self) {
        self.point_link_to("there");
        self.0.assert_responses(LIST, 200, "There");
        self.0.assert_responses(DETAIL, 200, "There");
    }
}

/// Copies a database in a process that ends, switches the copy to WAL mode, and runs statements in it.
fn copy_database(from: &Path, to: &Path, statements: &[&str]) {
    Sql::open(from).run_and_close(&[&format!("VACUUM INTO '{}'", to.display())]);
    Sql::open(to).run_and_close(&[&["PRAGMA journal_mode = wal"][..], statements].concat());
}

#[test]
fn commits_while_symlink_points_elsewhere_are_seen() {
    let mut dir = TestDir::new();
    ["here", "there"].iter().for_each(|name| fs::create_dir(dir.path(name)).unwrap());
    symlink("here", dir.path("live")).unwrap();
    dir.address = "sqlite:live/catalogue.db".to_owned();
    let mut linked = Linked(Fixture::new(&dir));
    let [here, there] = ["here/catalogue.db", "there/catalogue.db"].map(|path| dir.path(path));
    copy_database(&here, &there, &[&change("There")]);
    for number in 0..5 {
        linked.point_link_away();
        linked.point_link_to("here");
        linked.0.assert_not_modified();
        for (name, change_closed) in CHANGES {
            linked.point_link_away();
            let text = format!("number {number} {name}");
            change_closed(&here, &text);
            linked.point_link_to("here");
            linked.0.assert_new(&text);
            let mut sql = Sql::open(&here);
            sql.run(&change(&format!("after {text}")));
            linked.0.assert_new(&format!("after {text}"));
            sql.close();
        }
    }
}

/// A later state replaces the file, and then an earlier one. If the revision were a counter, as many changes after the restore
/// as before it would repeat an earlier revision.
#[test]
fn replaced_file_is_read_immediately_and_matches_no_earlier_etag() {
    let dir = TestDir::in_memory();
    let mut fixture = Fixture::new(&dir);
    let [next, backup] = ["next.db", "backup.db"].map(|name| dir.path(name));
    for round in 0..5 {
        let text = format!("file {round}");
        copy_database(&dir.database(), &next, &[&change(&text)]);
        replace_database(&mut fixture, &next);
        fixture.assert_new(&text);

        copy_database(&dir.database(), &backup, &[]);
        let later = [1, 2, 3].map(|number| change(&format!("later {round} {number}")));
        fixture.sql().run_and_close(&later.each_ref().map(|change| &**change));
        fixture.assert_new(&format!("later {round} 3"));
        replace_database(&mut fixture, &backup);
        fixture.assert_responses(LIST, 200, &text);
        fixture.assert_responses(DETAIL, 200, &text);
        let mut sql = fixture.sql();
        later.iter().for_each(|change| drop(sql.run(&change.replace("later", "other"))));
        // The readers still send the ETags from before the restore.
        fixture.assert_new(&format!("other {round} 3"));
    }
}

/// Replaces the database by `file` after a full checkpoint, and removes WAL and WAL index, as an operator does. Waits until the
/// servers have noticed.
fn replace_database(fixture: &mut Fixture<'_>, file: &Path) {
    let mut sql = fixture.sql();
    assert!(sql.run("PRAGMA wal_checkpoint(TRUNCATE)").starts_with("0 "));
    sql.close();
    let database = fixture.dir.database();
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(sibling(&database, suffix));
    }
    fs::rename(file, database).unwrap();
    fixture.wait_for_file_check();
}

//! Files change places under the running servers.
//!
//! The servers reach the database through a symbolic link to its directory. While the link leads elsewhere and the servers
//! are asked, they let go of the files here, so that log and index are removed and made anew.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::scene::{Scene, beside, change, fill, remove_wal};
use super::sql::Sql;
use super::{DETAIL, LIST};
use crate::program::Place;

/// Two databases of the same content in directories of their own, and servers that reach the first.
struct Linked(Scene);

/// The two databases.
const HERE: &str = "here/catalogue.db";
const THERE: &str = "there/catalogue.db";

impl Linked {
    fn new() -> Self {
        Self::in_place(Place::in_memory())
    }

    fn in_place(place: Place) -> Self {
        fs::create_dir(place.path("here")).unwrap();
        fs::create_dir(place.path("there")).unwrap();
        fill(&place, HERE);
        symlink("here", place.path("live")).unwrap();
        let scene = Scene::over(place, "live/catalogue.db");
        // With the key that the readers have.
        let mut sql = Sql::open(&scene.place.path(HERE));
        sql.run(&format!("VACUUM INTO '{}'", scene.place.path(THERE).display()));
        sql.close();
        let mut there = Sql::open(&scene.place.path(THERE));
        there.run("PRAGMA journal_mode = wal");
        there.run(&change("There"));
        there.close();
        Self(scene)
    }

    /// The path leads to the other directory from now on.
    fn lead_to(&self, directory: &str) {
        symlink(directory, self.0.place.path("next")).unwrap();
        fs::rename(self.0.place.path("next"), self.0.place.path("live")).unwrap();
    }

    /// The servers are asked while the path leads elsewhere, and so let go of the files here.
    fn step_aside(&mut self) {
        self.lead_to("there");
        self.0.answers(LIST, 200, "There");
        self.0.answers(DETAIL, 200, "There");
    }

    fn come_back(&self) {
        self.lead_to("here");
    }

    fn here(&self) -> Sql {
        Sql::open(&self.0.place.path(HERE))
    }
}

#[test]
fn a_link_that_leads_elsewhere_and_back() {
    let mut linked = Linked::new();
    for _ in 0..5 {
        linked.step_aside();
        linked.come_back();
        linked.0.shows_nothing_new();
    }
    linked.0.sql().run(&change("at last"));
    linked.0.shows("at last");
}

/// The index of a log that was removed and made anew looks the same before and after, whatever is in the database.
#[test]
fn a_commit_while_the_path_leads_elsewhere() {
    let mut linked = Linked::new();
    for number in 0..5 {
        linked.step_aside();
        let text = format!("number {number}");
        let mut sql = linked.here();
        sql.run(&change(&text));
        sql.close();
        let log = beside(&linked.0.place.path(HERE), "-wal");
        assert!(!log.exists(), "the last to close the database removes its log");
        linked.come_back();
        linked.0.shows(&text);
    }
}

#[test]
fn a_log_that_a_killed_writer_left_behind() {
    let mut linked = Linked::new();
    for number in 0..5 {
        linked.step_aside();
        let text = format!("number {number}");
        let mut sql = linked.here();
        sql.run(&change(&text));
        sql.run("BEGIN IMMEDIATE");
        sql.run(&change("never committed"));
        sql.kill();
        linked.come_back();
        linked.0.shows(&text);
        let mut sql = linked.here();
        sql.run(&change(&format!("after {text}")));
        linked.0.shows(&format!("after {text}"));
        sql.close();
    }
}

/// Such a writer keeps the index in its own memory; the file of the index stays as it was before the commits.
#[test]
fn a_writer_that_does_without_the_index() {
    let mut linked = Linked::new();
    for number in 0..5 {
        linked.step_aside();
        let text = format!("number {number}");
        let mut sql = linked.here();
        sql.run("PRAGMA locking_mode = exclusive");
        sql.run(&change(&text));
        sql.close();
        linked.come_back();
        linked.0.shows(&text);
        linked.0.sql().run(&change(&format!("after {text}")));
        linked.0.shows(&format!("after {text}"));
    }
}

/// On most disks a file that was removed leaves its number to the next one.
#[test]
fn a_file_that_is_removed_and_made_anew() {
    let mut linked = Linked::in_place(Place::new());
    let (here, copy) = (linked.0.place.path(HERE), linked.0.place.path("copy.db"));
    for number in 0..5 {
        linked.step_aside();
        let text = format!("number {number}");
        let mut sql = linked.here();
        sql.run(&change(&text));
        sql.run("PRAGMA wal_checkpoint(TRUNCATE)");
        sql.close();
        fs::copy(&here, &copy).unwrap();
        fs::remove_file(&here).unwrap();
        fs::copy(&copy, &here).unwrap();
        linked.come_back();
        linked.0.shows(&text);
    }
}

#[test]
fn a_file_that_takes_the_place_of_another() {
    let place = Place::in_memory();
    fill(&place, "catalogue.db");
    let mut scene = Scene::over(place, "catalogue.db");
    for number in 0..5 {
        let text = format!("file {number}");
        let next = scene.place.path("next.db");
        scene.sql().run(&format!("VACUUM INTO '{}'", next.display()));
        let mut sql = Sql::open(&next);
        sql.run("PRAGMA journal_mode = wal");
        sql.run(&change(&text));
        sql.close();
        put_in_place(&mut scene, &next);
        scene.shows(&text);
        scene.sql().run(&change(&format!("after {text}")));
        scene.shows(&format!("after {text}"));
    }
}

/// Puts a file in the place of the database, once its log is written back.
fn put_in_place(scene: &mut Scene, file: &Path) {
    let mut sql = scene.sql();
    assert!(sql.run("PRAGMA wal_checkpoint(TRUNCATE)").starts_with("0 "));
    sql.close();
    remove_wal(scene.database());
    fs::rename(file, scene.database()).unwrap();
}

/// A counter of changes would stand where it stood, after as many changes to the older file.
#[test]
fn a_restored_file_that_is_changed_matches_no_tag_of_before() {
    let mut scene = Scene::new();
    for round in 0..3 {
        let backup = scene.place.path("backup.db");
        scene.sql().run(&format!("VACUUM INTO '{}'", backup.display()));
        let mut sql = scene.sql();
        for number in 0..3 {
            sql.run(&change(&format!("later {round} {number}")));
        }
        scene.shows(&format!("later {round} 2"));
        let tags: Vec<_> = scene.readers.iter().map(|reader| reader.tag(LIST)).collect();
        sql.close();

        put_in_place(&mut scene, &backup);
        for (reader, tag) in scene.readers.iter_mut().zip(&tags) {
            let answer = reader.ask(LIST, tag);
            assert!(answer.status == 200 && !answer.body.contains("later"), "{answer:?}");
        }
        let mut sql = scene.sql();
        for number in 0..3 {
            sql.run(&change(&format!("other {round} {number}")));
        }
        // The tags are still those of before the restoring.
        scene.shows(&format!("other {round} 2"));
    }
}

#[test]
fn a_file_that_is_gone_and_comes_back_changed() {
    let mut scene = Scene::new();
    let away = scene.place.path("away.db");
    for number in 0..3 {
        let mut sql = scene.sql();
        sql.run("PRAGMA wal_checkpoint(TRUNCATE)");
        sql.close();
        fs::rename(scene.database(), &away).unwrap();
        scene.answers(LIST, 500, "internal_error");
        scene.answers(DETAIL, 500, "internal_error");
        fs::rename(&away, scene.database()).unwrap();
        scene.shows_nothing_new();
        let text = format!("number {number}");
        scene.sql().run(&change(&text));
        scene.shows(&text);
    }
}

//! A host writes in plain SQL and knows nothing of the program.

use super::scene::{Scene, change};
use super::{DETAIL, LIST, PAGE};

#[test]
fn hundreds_of_commits_in_a_row() {
    let mut scene = Scene::new();
    let mut sql = scene.sql();
    for number in 0..200 {
        let text = format!("number {number}");
        sql.run(&change(&text));
        scene.shows(&text);
        if number % 4 == 0 {
            sql.run(&format!("UPDATE modules SET summary = 'of {text}'"));
            scene.shows_at(DETAIL, &format!("of {text}"));
            scene.shows_at(LIST, &text);
            scene.shows_at(PAGE, &text);
        }
    }
}

#[test]
fn what_is_not_committed_does_not_show() {
    let mut scene = Scene::new();
    let mut sql = scene.sql();
    for number in 0..10 {
        for end in ["ROLLBACK", "COMMIT"] {
            let text = format!("{end} {number}");
            sql.run("BEGIN IMMEDIATE");
            sql.run(&change(&text));
            scene.shows_nothing_new();
            sql.run(end);
            if end == "COMMIT" { scene.shows(&text) } else { scene.shows_nothing_new() }
        }
    }
}

#[test]
fn a_writer_that_closes_after_each_commit() {
    let mut scene = Scene::new();
    for number in 0..20 {
        let text = format!("number {number}");
        let mut sql = scene.sql();
        sql.run(&change(&text));
        sql.close();
        scene.shows(&text);
        scene.shows_nothing_new();
    }
}

#[test]
fn a_change_of_another_account_is_no_change() {
    let mut scene = Scene::new();
    let mut sql = scene.sql();
    for number in 0..20 {
        sql.run(&format!("UPDATE courses SET title = 'number {number}' WHERE account_id = 'b'"));
        scene.shows_nothing_new();
    }
}

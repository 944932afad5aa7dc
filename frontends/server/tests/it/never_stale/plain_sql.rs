//! Writes by a host application in plain SQL.

use super::fixture::{Fixture, change};
use super::{DETAIL, LIST, PAGE};

#[test]
fn each_of_200_commits_appears_in_next_response() {
    let mut fixture = Fixture::new();
    let mut sql = fixture.sql();
    for number in 0..200 {
        let text = format!("number {number}");
        sql.run(&change(&text));
        fixture.assert_new(&text);
        if number % 4 == 0 {
            sql.run(&format!("UPDATE modules SET summary = 'of {text}'"));
            fixture.assert_new_at(DETAIL, &format!("of {text}"));
            fixture.assert_new_at(LIST, &text);
            fixture.assert_new_at(PAGE, &text);
        }
    }
}

#[test]
fn uncommitted_changes_are_not_visible() {
    let mut fixture = Fixture::new();
    let mut sql = fixture.sql();
    for number in 0..10 {
        for end in ["ROLLBACK", "COMMIT"] {
            let text = format!("{end} {number}");
            sql.run("BEGIN IMMEDIATE");
            sql.run(&change(&text));
            fixture.assert_not_modified();
            sql.run(end);
            if end == "COMMIT" { fixture.assert_new(&text) } else { fixture.assert_not_modified() }
        }
    }
}

#[test]
fn commit_is_seen_after_writer_closes() {
    let mut fixture = Fixture::new();
    for number in 0..20 {
        let text = format!("number {number}");
        let mut sql = fixture.sql();
        sql.run(&change(&text));
        sql.close();
        fixture.assert_new(&text);
        fixture.assert_not_modified();
    }
}

#[test]
fn change_of_another_account_keeps_etags() {
    let mut fixture = Fixture::new();
    let mut sql = fixture.sql();
    for number in 0..20 {
        sql.run(&format!("UPDATE courses SET title = 'number {number}' WHERE account_id = 'b'"));
        fixture.assert_not_modified();
    }
}

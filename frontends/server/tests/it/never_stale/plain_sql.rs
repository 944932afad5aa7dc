//! A host writes in plain SQL and knows nothing of the program.

use super::fixture::{Fixture, change};
use super::{DETAIL, LIST, PAGE};

#[test]
fn hundreds_of_commits_in_a_row() {
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
fn what_is_not_committed_does_not_show() {
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
fn a_writer_that_closes_after_each_commit() {
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
fn a_change_of_another_account_is_no_change() {
    let mut fixture = Fixture::new();
    let mut sql = fixture.sql();
    for number in 0..20 {
        sql.run(&format!("UPDATE courses SET title = 'number {number}' WHERE account_id = 'b'"));
        fixture.assert_not_modified();
    }
}

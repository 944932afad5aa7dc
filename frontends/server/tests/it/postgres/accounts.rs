//! Accounts, and keys of all of them, with the same commands as on SQLite.

use super::fixture::Fixture;
use crate::accounts::an_account_is_listed_shown_and_removed;
use crate::keys_find::tokens_are_found_and_ended;
use crate::keys_list::keys_of_all_accounts_are_looked_over;

#[test]
fn accounts_are_listed_shown_and_removed() {
    let Some(fixture) = Fixture::with_courses() else { return };
    let server = fixture.serve("--log off");
    an_account_is_listed_shown_and_removed(|arguments| fixture.command(arguments), &server);
    for table in ["accounts", "courses", "modules", "module_contents", "credentials"] {
        let rows = fixture.session().texts(&format!("SELECT CAST(count(*) AS TEXT) FROM {table}"));
        assert_eq!(rows, ["0"], "{table}");
    }
}

#[test]
fn a_removal_says_what_postgresql_keeps() {
    let Some(fixture) = Fixture::with_courses() else { return };
    let output = fixture.run("accounts remove a --yes").succeeds();
    assert!(output.contains("some of it remains: PostgreSQL keeps removed rows"), "{output}");
}

#[test]
fn a_leaked_token_is_found_and_ended() {
    let Some(fixture) = Fixture::with_courses() else { return };
    tokens_are_found_and_ended(|arguments| fixture.command(arguments));
}

#[test]
fn all_keys_are_listed_or_those_that_need_a_look() {
    let Some(fixture) = Fixture::with_courses() else { return };
    let session = fixture.session();
    keys_of_all_accounts_are_looked_over(|arguments| fixture.command(arguments), |sql| session.run(sql));
}

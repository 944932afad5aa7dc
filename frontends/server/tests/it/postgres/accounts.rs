//! Commands for accounts and for keys of all accounts, with the same checks as on SQLite.

use super::fixture::Fixture;
use crate::accounts::assert_account_commands_work;
use crate::keys_find::assert_tokens_can_be_found_and_revoked;
use crate::keys_list::assert_keys_can_be_listed_and_filtered;

#[test]
fn accounts_are_listed_shown_and_removed() {
    let Some(fixture) = Fixture::with_courses() else { return };
    let server = fixture.serve("--log off");
    assert_account_commands_work(|arguments| fixture.command(arguments), &server);
    for table in ["accounts", "courses", "modules", "module_contents", "credentials"] {
        let rows = fixture.session().texts(&format!("SELECT CAST(count(*) AS TEXT) FROM {table}"));
        assert_eq!(rows, ["0"], "{table}");
    }
}

#[test]
fn account_removal_reports_remaining_data() {
    let Some(fixture) = Fixture::with_courses() else { return };
    let output = fixture.run("accounts remove a --yes").succeeds();
    assert!(output.contains("remaining data: PostgreSQL keeps removed rows"), "{output}");
}

#[test]
fn leaked_token_is_found_and_revoked() {
    let Some(fixture) = Fixture::with_courses() else { return };
    assert_tokens_can_be_found_and_revoked(|arguments| fixture.command(arguments));
}

#[test]
fn keys_of_all_accounts_are_listed_and_filtered() {
    let Some(fixture) = Fixture::with_courses() else { return };
    let session = fixture.session();
    assert_keys_can_be_listed_and_filtered(|arguments| fixture.command(arguments), |sql| session.run(sql));
}

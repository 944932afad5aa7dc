//! Cases that a storage cannot exercise pass, and report that they are skipped. All others report nothing.

use std::env::current_exe;
use std::process::Command;

use catalogue_storage_conformance::CASES;

/// Runs the suites of this program in the module `suite`, and returns the lines about skipped cases, sorted.
fn skipped(suite: &str) -> Vec<String> {
    let output = Command::new(current_exe().unwrap()).arg(format!("{suite}::")).output().unwrap();
    assert!(output.status.success(), "{suite}");
    let log = String::from_utf8(output.stderr).unwrap();
    let prefix = format!("skipped: {suite}::");
    let mut lines: Vec<_> = log.lines().filter_map(|line| line.strip_prefix(&prefix)).map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn complete_storage_skips_no_case() {
    assert_eq!(skipped("without_a_flaw"), [""; 0]);
}

#[test]
fn storage_without_revisions_skips_cases_of_revisions() {
    let (.., cases) = CASES.iter().find(|(_, topic, _)| *topic == "revision").unwrap();
    let mut expected: Vec<_> =
        cases.iter().map(|case| format!("revision::{case}: the storage has no revisions")).collect();
    let others = [
        "credential_revision::credential_has_current_revision: no credential is returned with a revision",
        "import_atomicity::import_replaces_revision_only_when_committed: the storage has no revisions",
    ];
    expected.extend(others.map(str::to_owned));
    expected.sort();
    assert_eq!(skipped("without_revisions"), expected);
}

#[test]
fn table_of_api_keys_skips_oauth_tokens_and_revocations() {
    let expected = [
        "lookup::revoked_credential_is_found_as_revoked: only its OAuth tokens: the fixture has none",
        "revocations::revocation_applies_from_next_lookup: the storage has no revocations of signed tokens",
        "revocations::revoked_token_is_found_only_by_whole_digest: the storage has no revocations of signed tokens",
    ];
    assert_eq!(skipped("hosts::with_credentials_only"), expected);
}

#[test]
fn fixture_without_single_modules_skips_their_case() {
    let expected = ["revision::module_change_replaces_revision: the fixture does not write single modules"];
    assert_eq!(skipped("hosts::with_courses_only"), expected);
}

//! `catalogue keys check`, and the instructions for scanners in the guide and the README.

use serde_json::json;

use crate::program::TestDir;

const GUIDE: &str = include_str!("../../guide/keys.md");
const README: &str = include_str!("../../../../catalogue-core/README.md");

#[test]
fn well_formed_tokens_are_valid_without_database() {
    let dir = TestDir::with_courses();
    let key = dir.run("keys create --account a --name n --scope read:courses").succeeds();
    let oauth = dir.run("tokens create --account a --scope read:courses").succeeds();
    let elsewhere = TestDir::new();
    let outcome = elsewhere.run_reading(format!("{key}\n{oauth}"), "keys check");
    assert_eq!(outcome.succeeds(), format!("1: valid api-key {}\n3: valid oauth {}\n", &key[..8], &oauth[..8]));
    assert!(elsewhere.files().is_empty());
}

#[test]
fn malformed_tokens_exit_1_and_are_not_printed() {
    let dir = TestDir::new();
    let key = format!("ccat_{}08gEjZ", "0".repeat(43));
    let typed = key.replace("08gEjZ", "08gEjz");
    let outcome = dir.run_reading(format!("{key}\nhunter2-is-a-password\n{typed}\n"), "keys check");
    assert_eq!(outcome.out, "1: valid api-key ccat_000\n2: invalid\n3: invalid api-key\n");
    assert_eq!((outcome.status, &*outcome.err), (Some(1), "error: malformed tokens: 2 of 3\n"));

    let outcome = dir.run_reading(format!("{typed}\n{key}"), "keys check --json");
    assert_eq!(outcome.status, Some(1));
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&outcome.out).unwrap(),
        json!([
            { "line": 1, "valid": false, "kind": "api-key", "prefix": null },
            { "line": 2, "valid": true, "kind": "api-key", "prefix": "ccat_000" },
        ])
    );
    dir.run_reading("\n \n", "keys check").fails(1, &["pass one per line"]);
}

#[test]
fn readme_examples_are_correct() {
    assert!([GUIDE, README].iter().all(|text| text.contains("(ccat|cato)_[0-9A-Za-z]{49}")));
    let rows = README.lines().filter(|line| line.starts_with("| `ccat_") || line.starts_with("| `cato_"));
    let rows: Vec<_> = rows.map(|line| (line.split('`').nth(1).unwrap(), line.contains("| yes |"))).collect();
    assert!(rows.iter().any(|row| row.1) && rows.iter().any(|row| !row.1), "{rows:?}");
    let dir = TestDir::new();
    for (token, valid) in rows {
        assert_eq!(dir.run_reading(token, "keys check").status, Some(i32::from(!valid)), "{token}");
    }
}

/// Finds tokens next to letters, digits and `_`, and rejects text that only resembles a token.
#[cfg(unix)]
#[test]
fn command_of_guide_finds_tokens_in_any_text() {
    let line = GUIDE.lines().find(|line| line.starts_with("grep ") && line.ends_with("| catalogue keys check"));
    let (search, check) = line.unwrap().split_once(" | catalogue ").unwrap();
    let dir = TestDir::with_courses();
    let key = dir.run("keys create --account a --name n --scope read:courses").succeeds();
    let (key, mistyped) = (key.trim_end(), format!("ccat_{}", "0".repeat(49)));
    let places = [r#""header\n{}""#, "Bearer%20{}", "key_{}", "{}_old", "Authorization: Bearer {}", "x{}y", "a {}, b"];
    for place in places {
        dir.write("paste.txt", format!("before\n{}\n", place.replace("{}", key)));
        let mut command = std::process::Command::new("sh");
        let found = command.args(["-c", search]).current_dir(dir.path(".")).output().unwrap();
        let checked = dir.run_reading(str::from_utf8(&found.stdout).unwrap(), check);
        assert_eq!(checked.succeeds(), format!("1: valid api-key {}\n", &key[..8]), "{place}");
    }
    assert_eq!(dir.run_reading(&mistyped, check).out, "1: invalid api-key\n");
}

//! Escaping of control characters and invisible characters in JSON output and JSON messages.

use serde_json::Value;

use crate::program::{Outcome, TestDir};

const UNSAFE_TEXT: &str = "\u{7f}\u{9b}2J\u{202e}\u{2066}\u{200f}\u{feff}\u{e0041} \u{e9}\u{1f917}";

fn is_unsafe(character: char) -> bool {
    (character.is_control() && character != '\n')
        || matches!(character, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            | '\u{feff}' | '\u{e0041}')
}

#[test]
fn json_output_escapes_control_characters() {
    let dir = TestDir::new();
    let account = "a\u{202e}\u{2069}b";
    let line = |name: &str| serde_json::json!({ "type": "account", "id": account, "name": name, "email": name });
    dir.write("f.jsonl", line("n").to_string());
    dir.run("import f.jsonl").succeeds();
    dir.write("f.jsonl", line(UNSAFE_TEXT).to_string());
    let imported = dir.run("import f.jsonl --json");
    let created = dir.run(&format!("keys create --account {account} --name n\u{202e} --scope read:courses --json"));
    let outcomes = [
        imported,
        created,
        dir.run("accounts list --json"),
        dir.run(&format!("accounts show {account} --json")),
        dir.run("keys list --json"),
        dir.run(&format!("keys log --account {account} --json")),
        dir.run("doctor --json"),
        dir.run(&format!("accounts remove {account} --yes --json")),
    ];
    for outcome in &outcomes {
        assert!(!outcome.out.contains(is_unsafe), "{:?}", outcome.out);
    }
    let values: Vec<Value> = outcomes.map(Outcome::json).into();
    assert_eq!((&values[2][0]["id"], &values[2][0]["name"]), (&account.into(), &UNSAFE_TEXT.into()));
    assert_eq!((&values[3]["email"], &values[4][0]["account"]), (&UNSAFE_TEXT.into(), &account.into()));
    assert_eq!(values[7]["id"], account);
}

#[test]
fn json_messages_escape_control_characters() {
    let dir = TestDir::with_courses();
    for arguments in ["keys list --account x\u{202e}\u{9b}", "export --account x\u{202e}\u{9b}", "x\u{202e}\u{9b}"] {
        let outcome = dir.run_in(&[("CATALOGUE_LOG_FORMAT", "json")], arguments);
        assert!(!outcome.err.contains(is_unsafe) && outcome.err.contains("202e"), "{:?}", outcome.err);
        outcome.err.lines().for_each(|line| drop(serde_json::from_str::<Value>(line).unwrap()));
    }
}

//! Commands that read a token: `keys find`, and `keys revoke` and `keys rotate` with `--token -`.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::databases::on_each_database;
use crate::program::{COURSES, TestDir, text};

const CREATE: &str = "keys create --account a --name n --scope read:courses --json";

on_each_database!(leaked_token_is_found_and_revoked);

fn leaked_token_is_found_and_revoked(dir: &TestDir) {
    dir.import(COURSES);
    let read = |input: &str, arguments: &str| dir.run_reading(input, arguments);
    let key = dir.run(CREATE).json();
    let oauth = dir.run("tokens create --account b --scope read:profile --json").json();
    for made in [&key, &oauth] {
        let found = read(&format!("\n {}\r\n", text(made, "token")), "keys find - --json").json();
        let account = text(made, "account");
        assert_eq!(found, dir.run(&format!("keys list --account {account} --json")).json()[0]);
        assert_eq!((&found["id"], &found["account"]), (&made["id"], &made["account"]));
        let displayed = read(text(made, "token"), "keys find -").succeeds();
        for piece in [
            text(made, "id"),
            &format!("account          {account}\n"),
            "state            valid\n",
            "last used (UTC)  never recorded; uses are written once a minute\n",
        ] {
            assert!(displayed.contains(piece), "{piece}: {displayed}");
        }
        assert!(!displayed.contains(text(made, "token")));
    }
    let tokens = dir.run("tokens list --json").json();
    assert_eq!((tokens.as_array().unwrap().len(), &tokens[0]["id"]), (1, &oauth["id"]));
    assert_eq!(dir.run("tokens list --account a --json").json(), json!([]));

    let unknown = format!("ccat_{}08gEjZ", "0".repeat(43));
    let paste = format!(
        "Hello,\n\"header\\n{0}\", Bearer%20{1}\nkey_{0} and {unknown}_old\n",
        text(&key, "token"),
        text(&oauth, "token")
    );
    let row = |line: u64, made: &Value| json!({ "line": line, "id": made["id"], "account": made["account"], "state": "valid", "lastUsedAt": null });
    let unknown_row = json!({ "line": 3, "id": null, "account": null, "state": "unknown", "lastUsedAt": null });
    assert_eq!(read(&paste, "keys find --in-text - --json").json(), json!([row(2, &key), row(2, &oauth), unknown_row]));
    let displayed = read(&paste, "keys find --in-text -").succeeds();
    assert!(
        displayed.starts_with("LINE  ID ") && displayed.lines().count() == 4 && !displayed.contains("ccat_"),
        "{displayed}"
    );
    assert!(displayed.lines().nth(3).unwrap().split_whitespace().eq(["3", "-", "-", "unknown", "-"]), "{displayed}");

    let next = read(text(&key, "token"), "keys rotate --token - --overlap 1h --json").json();
    assert_eq!(next["replaces"]["id"], key["id"]);
    let old = read(text(&key, "token"), "keys find - --json").json();
    let new = read(text(&next, "token"), "keys find - --json").json();
    assert_eq!((&old["state"], &old["replacedBy"], &old["replaces"]), (&json!("ending"), &next["id"], &json!(null)));
    assert_eq!((&new["state"], &new["replacedBy"], &new["replaces"]), (&json!("valid"), &json!(null), &key["id"]));

    let message = read(text(&key, "token"), "keys revoke --token -").succeeds();
    assert_eq!(message, format!("{} is revoked\n", text(&key, "id")));
    let message = read(text(&oauth, "token"), "keys revoke --token - --json").json();
    assert_eq!((&message["id"], &message["state"]), (&oauth["id"], &json!("revoked")));
    read(text(&oauth, "token"), "keys rotate --token -").fails(1, &["is an OAuth token"]);
    assert_eq!(read(text(&key, "token"), "keys find - --json").json()["state"], "revoked");
}

#[test]
fn unknown_token_exits_1_and_is_not_printed() {
    let dir = TestDir::with_courses();
    let key = dir.run(CREATE).json();
    let token = text(&key, "token");
    let unknown = TestDir::with_courses().key("a").1;
    let before = dir.run("keys list --json").json();
    for (input, piece) in [
        (&*unknown, "no credential has this token"),
        (&token[..40], "malformed, so it may be cut or mistyped"),
        ("hunter2-is-a-password", "malformed, so it may be cut or mistyped"),
        ("", "contains no token"),
        (" \n\n", "contains no token"),
        (&format!("{token}\n{token}"), "is not a single token"),
        (&format!("{token} {token}"), "is not a single token"),
        (&"x".repeat(10_000), "is not a single token"),
    ] {
        for command in ["keys find -", "keys find --json -", "keys revoke --token -", "keys rotate --token=-"] {
            let outcome = dir.run_reading(input, command);
            let text = input.trim();
            assert!(text.is_empty() || !outcome.err.contains(text), "{outcome:?}");
            assert!(!outcome.err.contains("hunter2") && !outcome.err.contains(&unknown[..12]), "{outcome:?}");
            outcome.fails(1, &[piece]);
        }
    }
    assert_eq!(dir.run("keys list --json").json(), before);
}

#[test]
fn token_as_argument_is_refused_with_hint() {
    let dir = TestDir::with_courses();
    let key = dir.run(CREATE).json();
    let token = text(&key, "token");
    for command in ["keys revoke", "keys rotate"] {
        let outcome = dir.run(&format!("{command} {token}"));
        assert!(!outcome.err.contains(&token[..8]), "{outcome:?}");
        outcome.fails(1, &["`keys revoke --token -`", "`keys rotate --token -`", "`keys find -`"]);
    }
    for command in ["keys find", "keys find --in-text", "keys revoke --token", "keys rotate --token"] {
        let outcome = dir.run(&format!("{command} {token}"));
        assert!(!outcome.err.contains(&token[..8]), "{outcome:?}");
        outcome.fails(2, &["standard input"]);
    }
    dir.run(&format!("keys revoke {} --token -", text(&key, "id"))).fails(2, &["cannot be used with"]);
    assert_eq!(dir.run("keys list --json").json()[0]["revokedAt"], Value::Null);
}

#[test]
fn text_without_known_tokens_exits_1() {
    let dir = TestDir::with_courses();
    let (_, token) = dir.key("a");
    let unknown = TestDir::with_courses().key("a").1;
    for (input, piece) in [
        ("", "standard input contains no token"),
        (&*format!("{}\n{}", &token[..53], token.to_uppercase()), "standard input contains no token"),
        (&unknown, "no credential has any of these tokens"),
    ] {
        let outcome = dir.run_reading(input, "keys find --in-text -");
        assert!(!outcome.out.contains("ccat_") && !outcome.err.contains("ccat_"), "{outcome:?}");
        assert!(outcome.status == Some(1) && outcome.err.contains(piece), "{outcome:?}");
        assert_eq!(outcome.out.contains("unknown"), input == unknown, "{outcome:?}");
    }
    for arguments in ["keys find", "keys find - --in-text -"] {
        assert_eq!(dir.run(arguments).status, Some(2), "{arguments}");
    }
}

/// On a terminal, operators learn whom to inform. Without a terminal, standard error stays empty.
#[cfg(target_os = "linux")]
#[test]
fn revoke_prints_owner_on_terminal() {
    let dir = TestDir::with_courses();
    let [first, second] = [(); 2].map(|()| dir.run(CREATE).json());
    let (status, displayed) = crate::terminal::Terminal::run_on_stderr(
        dir.command(&format!("keys revoke {}", text(&first, "id"))).stdout(Stdio::null()),
    );
    assert_eq!((status, &*displayed), (Some(0), "name \"n\", account a\n"));
    let outcome = dir.run(&format!("keys revoke {}", text(&second, "id")));
    assert_eq!((&*outcome.err, outcome.status), ("", Some(0)));
}

//! `catalogue keys`

use std::fs;

use serde_json::{Value, json};

use crate::databases::on_each_database;
use crate::program::{COURSES, Outcome, TestDir, text};

on_each_database!(
    json_contains_all_fields_of_new_key,
    revoking_again_keeps_first_time,
    unknown_accounts_and_ids_exit_1
);

#[test]
fn create_prints_only_the_token() {
    let dir = TestDir::with_courses();
    for (create, prefix) in [("tokens create", "cato_"), ("keys create --name n", "ccat_")] {
        let token = dir.run(&format!("{create} --account b --scope read:courses")).succeeds();
        assert!(token.starts_with(prefix) && token.ends_with('\n') && token.len() == 55, "{token:?}");
        dir.run(&format!("{create} --account x --scope read:courses")).fails(1, &["\"x\""]);
    }
    let token = dir.run("keys create --account a --name n --scope read:courses").succeeds();
    let listed = dir.run("keys list --account a").succeeds();
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with("ID") && lines[1].contains("read:courses"), "{listed}");
    assert!(listed.contains(&token[..8]) && !listed.contains(token.trim_end()));
}

fn json_contains_all_fields_of_new_key(dir: &TestDir) {
    dir.import(COURSES);
    let arguments = "keys create --account a --name n --scope read:courses read:profile --expires-in 90d --json";
    let key = dir.run(arguments).json();
    let mut fields: Vec<_> = key.as_object().unwrap().keys().collect();
    fields.sort_unstable();
    assert_eq!(fields, ["account", "createdAt", "expiresAt", "id", "name", "scopes", "token"]);
    assert_eq!((&key["account"], &key["name"]), (&json!("a"), &json!("n")));
    assert_eq!(key["scopes"], json!(["read:profile", "read:courses"]));
    let id = text(&key, "id");
    assert!(id.strip_prefix("key_").is_some_and(|hex| hex.len() == 32 && hex.as_bytes()[12] == b'7'), "{id}");
    for time in ["createdAt", "expiresAt"] {
        let time = text(&key, time);
        assert!(time.len() == "2026-01-02T03:04:05.000Z".len() && time.ends_with('Z'), "{time}");
    }

    let stored = match dir.is_postgres() {
        true => dir.host().texts("SELECT CAST(c AS TEXT) FROM credentials AS c").concat().into_bytes(),
        false => dir.files().iter().flat_map(|name| fs::read(dir.path(name)).unwrap()).collect(),
    };
    let contains = |part: &str| stored.windows(part.len()).any(|window| window == part.as_bytes());
    let token = text(&key, "token");
    assert!(contains(&token[..8]) && !contains(&token[8..48]), "the secret is stored");

    let listed = dir.run("keys list --account a --json").json();
    assert_eq!(
        listed,
        json!([{
            "id": id, "kind": "api-key", "name": "n", "account": "a", "prefix": &token[..8],
            "scopes": key["scopes"], "createdAt": key["createdAt"], "expiresAt": key["expiresAt"], "revokedAt": null,
            "lastUsedAt": null, "state": "valid", "replacedBy": null, "replaces": null,
        }])
    );
}

fn revoking_again_keeps_first_time(dir: &TestDir) {
    dir.import(COURSES);
    let key = dir.run("keys create --account a --name n --scope read:profile --json").json();
    assert_eq!(key["expiresAt"], Value::Null);
    let id = text(&key, "id");
    assert_eq!(dir.run(&format!("keys revoke {id}")).succeeds(), format!("{id} is revoked\n"));
    let revoked = dir.run("keys list --account a --json").json();
    assert!(revoked[0]["revokedAt"].is_string());
    assert_eq!(dir.run(&format!("keys revoke --json {id}")).json(), revoked[0]);
    assert!(dir.run(&format!("keys revoke {id}")).succeeds().contains("was already revoked at 2"));
}

fn unknown_accounts_and_ids_exit_1(dir: &TestDir) {
    dir.import(COURSES);
    assert_eq!(dir.run("keys list --account b --json").json(), json!([]));
    dir.run("keys list --account x").fails(1, &["no account \"x\"; see `accounts list`"]);
    for (arguments, piece) in [
        ("keys revoke", "keys list"),
        ("keys rotate", "keys list"),
        ("keys list --account", "import"),
        ("keys create --name n --scope read:courses --account", "import"),
        ("tokens create --scope read:courses --account", "import"),
        ("accounts show", "no such account; see `accounts list`"),
        ("accounts remove --yes", "no such account; see `accounts list`"),
        ("export --account", "no such account; see `accounts list`"),
    ] {
        let outcome = dir.run(&format!("{arguments} ccat_perhaps_a_token"));
        assert!(!outcome.err.contains("ccat_perhaps"), "{outcome:?}");
        outcome.fails(1, &[piece]);
    }
    dir.run("keys revoke key_1").fails(1, &["no credential has the id \"key_1\""]);
}

#[test]
fn list_prints_one_line_per_key() {
    let dir = TestDir::with_courses();
    let create = "keys create --account a --scope read:profile read:courses --name";
    dir.run(&format!("{create} A-partner-1 --expires-in 90d")).succeeds();
    let replaced = dir.run(&format!("{create} replaced --json")).json();
    let expired = text(&replaced, "id");
    dir.run(&format!("keys rotate {expired} --overlap 0s")).succeeds();
    dir.run(&format!("{create} for-good")).succeeds();
    let revoked = dir.run(&format!("{create} revoked --json")).json();
    dir.run(&format!("keys revoke {}", text(&revoked, "id"))).succeeds();
    let listed = dir.run("keys list --account a").succeeds();
    assert!(listed.lines().all(|line| line.chars().count() <= 193), "{listed}");
    let row = |name: &str| listed.lines().find(|line| line.contains(name)).unwrap();
    let json = dir.run("keys list --account a --json").json();
    // Returns a time to the minute, in UTC.
    let minute = |name: &str, time: &str| {
        let key = json.as_array().unwrap().iter().find(|key| key["name"] == name || key["id"] == name).unwrap();
        text(key, time)[..16].replace('T', " ")
    };
    let successor = dir.listed(expired)["replacedBy"].clone();
    let successor = successor.as_str().unwrap();
    let ends = |name: &str, state: &str, time: &str, successor: &str| {
        let end = format!("  {state:7}  {:16}  {successor}", minute(name, time));
        assert!(row(name).ends_with(&end), "{end:?}: {listed}");
    };
    ends("A-partner-1", "valid", "expiresAt", "-");
    ends(expired, "expired", "expiresAt", successor);
    ends("revoked", "revoked", "revokedAt", "-");
    let created_on = &minute("for-good", "createdAt")[..10];
    assert!(row("for-good").contains(&format!("  {created_on}     never  ")), "{listed}");
    assert!(row("for-good").ends_with("  valid    -                 -"), "{listed}");
}

#[test]
fn unknown_scope_is_accepted_with_a_note() {
    let dir = TestDir::with_courses();
    let create = "keys create --account a --name n --scope read:courses";
    assert_eq!(dir.run(create).err, "");
    let noted = dir.run(&format!("{create} read:everything"));
    let note = "note: this API uses only the scopes read:profile and read:courses, not read:everything\n";
    assert_eq!((noted.status, &*noted.err), (Some(0), note));
    let listed = dir.run("keys list --account a --json").json();
    let has_both = |key: &Value| key["scopes"] == json!(["read:courses", "read:everything"]);
    assert!(listed.as_array().unwrap().iter().any(has_both), "{listed}");
}

/// A name cannot control the terminal, reverse the line or imitate another name.
#[test]
fn list_escapes_control_characters_in_names() {
    let dir = TestDir::with_courses();
    let name = "a\u{202e}b\u{2028}c\u{200b}d\u{1b}[2J\u{2067}\u{fe0f}";
    let create = "keys create --account a --scope read:courses --name";
    assert!(dir.command(create).arg(name).output().unwrap().status.success());
    let list = dir.run("keys list --account a").succeeds();
    assert!(list.contains("  a\\u{202e}b\\u{2028}c\\u{200b}d\\u{1b}[2J\\u{2067}\\u{fe0f}  "), "{list}");
    assert_eq!(dir.run("keys list --account a --json").json()[0]["name"], name);
}

#[test]
fn empty_key_name_and_late_expiry_exit_2() {
    let dir = TestDir::with_courses();
    let create = "keys create --account a --scope read:courses --name";
    for name in ["", "  ", "\t"] {
        Outcome::from(dir.command(create).arg(name).output().unwrap()).fails(2, &["--name"]);
    }
    dir.run(&format!("{create} n --expires-in 9999999d")).fails(2, &["--expires-in", "9999"]);
    assert_eq!(dir.run("keys list --json").json(), json!([]));
    let help = dir.run("keys create --help").succeeds();
    assert!(help.find("      --account <ID>") < help.find("      --name <NAME>"), "{help}");
}

#[cfg(target_os = "linux")]
#[test]
fn terminal_gets_description_of_new_token() {
    use crate::terminal::Terminal;

    let dir = TestDir::with_courses();
    let create = "keys create --account a --name n --scope read:courses";
    for (arguments, expected) in [
        (create.to_owned(), " for a, read:courses, never expires. Shown only once.\n"),
        (format!("{create} --expires-in 90d"), "Z. Shown only once.\n"),
        ("tokens create --account b --scope read:profile".to_owned(), " for b, read:profile, never expires. "),
    ] {
        let terminal = Terminal::with_width(80);
        let mut command = dir.command(&arguments);
        command.stderr(terminal.end()).stdout(std::fs::File::create(dir.path("out")).unwrap());
        let (status, displayed) = terminal.run(&mut command);
        let token = std::fs::read_to_string(dir.path("out")).unwrap();
        assert!(token.len() == 55 && token.lines().count() == 1, "{token:?}");
        let found = dir.run_reading(&token, "keys find - --json").json();
        assert!(
            displayed.starts_with(text(&found, "id")) && displayed.contains(expected) && displayed.lines().count() == 1,
            "{displayed:?}"
        );
        assert!(status == Some(0) && !displayed.contains(token.trim_end()));
    }
    let terminal = Terminal::with_width(80);
    let mut command = dir.command("keys check");
    command.stdin(terminal.end()).stderr(terminal.end());
    terminal.types("hunter2\n\u{4}");
    let (_, displayed) = terminal.run(&mut command);
    assert!(displayed.contains("one token per line, then Ctrl+D\n"), "{displayed:?}");
}

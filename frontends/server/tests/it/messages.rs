//! Messages about invalid input: the input adds no lines to a message, and its secrets are not printed.

use std::process::Command;

use crate::program::TestDir;

/// Command lines with `TEXT` in each place that accepts free text.
const COMMAND_LINES: &[&[&str]] = &[
    &["import", "TEXT"],
    &["import", "TEXT", "x"],
    &["TEXT"],
    &["export", "TEXT"],
    &["serve", "TEXT"],
    &["serve", "--TEXT"],
    &["serve", "--lisen=TEXT"],
    &["serve", "--listen", "TEXT"],
    &["serve", "--base-url", "TEXT"],
    &["serve", "--docs-url", "TEXT"],
    &["serve", "--docs-contact", "TEXT"],
    &["serve", "--docs-keys-url", "TEXT"],
    &["serve", "--cors-origin", "TEXT"],
    &["serve", "--accept", "TEXT"],
    &["serve", "--page-cache", "TEXT"],
    &["serve", "--rate-limit", "TEXT"],
    &["serve", "--rate-limit", "1/1m", "--rate-limit-store", "TEXT"],
    &["serve", "--trusted-proxies", "TEXT"],
    &["serve", "--shutdown-grace", "TEXT"],
    &["serve", "--tls-cert", "TEXT", "--tls-key", "TEXT", "--database", "sqlite::memory:"],
    &["serve", "--log", "TEXT"],
    &["serve", "--log-format", "TEXT"],
    &["serve", "--config", "TEXT"],
    &["serve", "--database", "TEXT:"],
    &["export", "--database", "sqlite:TEXT/x.db"],
    &["export", "--database", "file:TEXT"],
    &["keys", "create", "--account", "a", "--name", "n", "--scope", "TEXT"],
    &["keys", "create", "--account", "a", "--name", "n", "--scope", "read:courses", "--expires-in", "TEXT"],
    &["keys", "create", "--account", "TEXT", "--name", "n", "--scope", "read:courses"],
    &["keys", "list", "--account", "TEXT"],
    &["keys", "list", "--account", "a", "TEXT"],
    &["keys", "revoke", "TEXT"],
    &["keys", "rotate", "TEXT", "--overlap", "1h"],
    &["keys", "rotate", "key_1", "--overlap", "TEXT"],
    &["openapi", "--format", "TEXT"],
    &["openapi", "--base-url", "TEXT"],
    &["health", "TEXT"],
    &["config", "check", "--listen", "TEXT"],
    &["completions", "TEXT"],
];

/// Calls `check` with `text` in each of [`COMMAND_LINES`], in the environment and in files.
fn for_each_place(dir: &TestDir, text: &str, check: impl Fn(&mut Command)) {
    for line in COMMAND_LINES {
        let line = line.iter().map(|word| word.replace("TEXT", text));
        check(with_missing_database(dir, "").args(line));
    }
    let value = serde_json::to_string(text).unwrap();
    dir.write("value.toml", format!("listen = {value}\nbase-url = {value}\nlog = {value}"));
    dir.write("key.toml", format!("{value} = 1\nlisten = 1"));
    for command in ["serve", "config check"] {
        for variable in ["CATALOGUE_LISTEN", "CATALOGUE_BASE_URL", "CATALOGUE_LOG"] {
            check(with_missing_database(dir, command).env(variable, text));
        }
        for file in ["value.toml", "key.toml"] {
            check(&mut with_missing_database(dir, &format!("{command} --config {file}")));
        }
    }
    for command in ["keys revoke", "keys list --account", "keys rotate --overlap 1h"] {
        check(dir.command(command).arg(text));
    }
}

/// Calls `check` for imports of lines that contain `text`.
fn for_each_import(dir: &TestDir, text: &str, check: impl Fn(&mut Command)) {
    let value = serde_json::to_string(text).unwrap();
    dir.write("field.jsonl", format!("{{\"type\":\"account\",\"id\":\"a\",{value}:1}}"));
    dir.write("value.jsonl", format!("{{\"type\":{value}}}"));
    for file in ["field.jsonl", "value.jsonl"] {
        check(&mut dir.command(&format!("import {file}")));
    }
}

/// Returns a command whose database does not exist, so that no server starts if the text is valid.
fn with_missing_database(dir: &TestDir, arguments: &str) -> Command {
    let mut command = dir.command(arguments);
    command.env("CATALOGUE_DATABASE", "sqlite:no/such/catalogue.db");
    command
}

fn message(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(matches!(output.status.code(), Some(1 | 2)), "{command:?}: {output:?}");
    let message = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(message.starts_with("error: "), "{command:?}: {message}");
    message
}

#[test]
fn external_text_adds_no_lines_to_messages() {
    let dir = TestDir::with_courses();
    let text = "x\nerror: nothing is wrong\u{202e}\u{2028}";
    let check = |command: &mut Command| {
        let message = message(command);
        assert!(
            !message.contains("\nerror: nothing") && !message.contains(['\u{202e}', '\u{2028}']),
            "{command:?}: {message:?}"
        );
    };
    for_each_place(&dir, text, check);
    for_each_import(&dir, text, check);
    dir.write(text, "listen = 'x'");
    check(dir.command("serve --config").arg(text));
    check(dir.command("config check --config").arg(text));
    let output = dir.command("config check").env(format!("CATALOGUE_{text}"), "1").output().unwrap();
    let warned = String::from_utf8(output.stderr).unwrap();
    assert!(warned.contains(": unknown variable") && !warned.contains("\nerror: "), "{warned}");
}

/// A secret that an operator types in the wrong place must not get into a log.
#[test]
fn misplaced_secrets_are_not_printed() {
    let dir = TestDir::with_courses();
    let secret = "Xq8vLr3WpZt5Ny7BmKd2";
    let check = |command: &mut Command| {
        let message = message(command);
        assert!(!message.contains(&secret[2..]), "{command:?}: {message}");
    };
    for text in [
        format!("redis://:{secret}@h"),
        format!("https://u:{secret}@h/x"),
        format!("https://u:a\"'{secret}@h/x"),
        format!("ccat_{secret}{secret}012345678"),
        format!("cato_{secret}"),
        format!("eyJhbGciOiJFZERTQSJ9.{secret}.{secret}"),
    ] {
        for_each_place(&dir, &text, check);
        for_each_import(&dir, &text, check);
    }
    for_each_place(&dir, &format!("https://u:a {secret}@h/x"), check);
}

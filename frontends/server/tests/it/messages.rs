//! Messages, whatever somebody has written where it is wrong: they stay in their lines and keep secrets.

use std::process::Command;

use crate::program::TestDir;

/// Command lines with one text in each place that has none of a closed set of words.
const EVERYWHERE: &[&[&str]] = &[
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

/// Calls `check` for each of them, and for what stands in the environment and in files.
fn everywhere(dir: &TestDir, text: &str, check: impl Fn(&mut Command)) {
    for line in EVERYWHERE {
        let line = line.iter().map(|word| word.replace("TEXT", text));
        check(without_a_database(dir, "").args(line));
    }
    let value = serde_json::to_string(text).unwrap();
    dir.write("value.toml", format!("listen = {value}\nbase-url = {value}\nlog = {value}"));
    dir.write("key.toml", format!("{value} = 1\nlisten = 1"));
    for command in ["serve", "config check"] {
        for variable in ["CATALOGUE_LISTEN", "CATALOGUE_BASE_URL", "CATALOGUE_LOG"] {
            check(without_a_database(dir, command).env(variable, text));
        }
        for file in ["value.toml", "key.toml"] {
            check(&mut without_a_database(dir, &format!("{command} --config {file}")));
        }
    }
    for command in ["keys revoke", "keys list --account", "keys rotate --overlap 1h"] {
        check(dir.command(command).arg(text));
    }
}

/// Calls `check` for an import of a line with `text`.
fn imported(dir: &TestDir, text: &str, check: impl Fn(&mut Command)) {
    let value = serde_json::to_string(text).unwrap();
    dir.write("field.jsonl", format!("{{\"type\":\"account\",\"id\":\"a\",{value}:1}}"));
    dir.write("value.jsonl", format!("{{\"type\":{value}}}"));
    for file in ["field.jsonl", "value.jsonl"] {
        check(&mut dir.command(&format!("import {file}")));
    }
}

/// So no server starts where the text is right.
fn without_a_database(dir: &TestDir, arguments: &str) -> Command {
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
fn no_text_from_outside_makes_a_line_of_its_own() {
    let dir = TestDir::with_courses();
    let text = "x\nerror: nothing is wrong\u{202e}\u{2028}";
    let check = |command: &mut Command| {
        let message = message(command);
        assert!(
            !message.contains("\nerror: nothing") && !message.contains(['\u{202e}', '\u{2028}']),
            "{command:?}: {message:?}"
        );
    };
    everywhere(&dir, text, check);
    imported(&dir, text, check);
    dir.write(text, "listen = 'x'");
    check(dir.command("serve --config").arg(text));
    check(dir.command("config check --config").arg(text));
    let output = dir.command("config check").env(format!("CATALOGUE_{text}"), "1").output().unwrap();
    let warned = String::from_utf8(output.stderr).unwrap();
    assert!(warned.contains("no setting has this variable") && !warned.contains("\nerror: "), "{warned}");
}

/// Whoever types a secret in the wrong place must not find it in a log.
#[test]
fn no_secret_is_repeated_where_it_was_typed_by_mistake() {
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
        everywhere(&dir, &text, check);
        imported(&dir, &text, check);
    }
    everywhere(&dir, &format!("https://u:a {secret}@h/x"), check);
}

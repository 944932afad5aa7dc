//! `catalogue settings`, and `keys log`.

use crate::program::TestDir;

#[test]
fn link_command_prints_only_the_link() {
    let dir = TestDir::with_courses();
    for (arguments, start) in [
        ("--settings-url https://a.example/settings", "https://a.example/settings/sign-in#csin_"),
        ("--settings-url /settings", "http://127.0.0.1:8080/settings/sign-in#csin_"),
        ("--settings-url /s --listen 0.0.0.0:9", "http://127.0.0.1:9/s/sign-in#csin_"),
    ] {
        let link = dir.run(&format!("settings link --account a {arguments}")).succeeds();
        assert!(link.starts_with(start) && link[start.len() + 43..] == *".A\n", "{link}");
        assert_eq!(link.lines().count(), 1);
    }
    dir.write("c.toml", "settings-url = '/settings'\ntls-cert = 'c.pem'\ntls-key = 'k.pem'\n");
    let link = dir.run("settings link --account a --config c.toml --expires-in 7d --json").json();
    let url = format!("https://127.0.0.1:8080/settings/sign-in#{}", link["code"].as_str().unwrap());
    assert_eq!((&link["url"], &link["account"]), (&url.into(), &"a".into()));
    assert!(link["expiresAt"].is_string());
    assert_eq!(dir.run("settings sign-out --account a").succeeds(), "ended 4 links and sessions of a\n");
    assert_eq!(dir.run("settings sign-out --account a").succeeds(), "ended 0 links and sessions of a\n");
}

/// A link's code that was pasted instead of an id must not end up in a log.
#[test]
fn errors_do_not_repeat_a_link_code() {
    let dir = TestDir::with_courses();
    for command in ["settings sign-out --account", "keys revoke", "accounts show"] {
        for secret in ["csin_shortened", "https://a.example/settings/sign-in#csin_0123456789abcdefghij"] {
            let outcome = dir.run(&format!("{command} {secret}"));
            assert!(!outcome.err.contains("short") && !outcome.err.contains("abcdef"), "{outcome:?}");
            outcome.fails(1, &[]);
        }
    }
}

#[test]
fn missing_account_exits_1_and_invalid_options_exit_2() {
    let dir = TestDir::with_courses();
    let link = "settings link --settings-url /settings";
    dir.run(&format!("{link} --account none")).fails(1, &["no account \"none\"; see"]);
    dir.run("settings sign-out --account none").fails(1, &["no account \"none\"; see"]);
    dir.run("keys log --account none").fails(1, &["no account \"none\"; see"]);
    dir.run("settings link --account a").fails(2, &["--settings-url is not set"]);
    dir.run("settings link --account a --settings-url http://a.example/s").fails(2, &["use https://"]);
    dir.run(&format!("{link} --account a --listen 127.0.0.1:0")).fails(2, &["--listen: port 0", "pass the port"]);
    dir.run("settings link --account a --settings-url /docs")
        .fails(2, &["--settings-url: ", "the settings URL \"/docs\" would hide"]);
    dir.run("settings link --account a --settings-url /").fails(2, &["\"/\"", "like /settings"]);
    dir.run("settings link --account a --listen 127.0.0.1:0 --settings-url https://a.example/settings").succeeds();
    dir.run(&format!("{link} --account a --expires-in 8d")).fails(2, &["from 1s to 7d"]);
    dir.run(&format!("{link} --account a --expires-in 0s")).fails(2, &["from 1s to 7d"]);
    dir.run("settings link --account a --settings-url /settings --database sqlite:none.db").fails(1, &["none.db"]);
}

//! `catalogue settings`, and `keys log`.

use crate::program::TestDir;

#[test]
fn a_link_goes_into_a_pipe_alone() {
    let dir = TestDir::with_courses();
    for (arguments, start) in [
        ("--settings-url https://a.example/settings", "https://a.example/settings/sign-in#csin_"),
        ("--settings-url /settings", "http://127.0.0.1:8080/settings/sign-in#csin_"),
        ("--settings-url /s --listen 0.0.0.0:9", "http://127.0.0.1:9/s/sign-in#csin_"),
    ] {
        let link = dir.run(&format!("settings link --account a {arguments}")).succeeds();
        assert!(link.starts_with(start) && link.trim_end().len() == start.len() + 43, "{link}");
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

/// Whoever has pasted a link's code in the place of an id must not find it in a log.
#[test]
fn the_code_of_a_link_is_not_repeated() {
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
fn what_is_wrong_is_told_by_the_status_too() {
    let dir = TestDir::with_courses();
    let link = "settings link --settings-url /settings";
    dir.run(&format!("{link} --account none")).fails(1, &["there is no account \"none\""]);
    dir.run("settings sign-out --account none").fails(1, &["there is no account \"none\""]);
    dir.run("keys log --account none").fails(1, &["there is no account \"none\""]);
    dir.run("settings link --account a").fails(2, &["--settings-url URL"]);
    dir.run("settings link --account a --settings-url http://a.example/s").fails(2, &["write https://"]);
    dir.run(&format!("{link} --account a --listen 127.0.0.1:0")).fails(2, &["--listen: port 0", "write the port"]);
    dir.run("settings link --account a --settings-url /docs").fails(2, &["--settings-url: ", "stands at or below"]);
    dir.run("settings link --account a --settings-url /").fails(2, &["\"/\"", "like /settings"]);
    dir.run("settings link --account a --listen 127.0.0.1:0 --settings-url https://a.example/settings").succeeds();
    dir.run(&format!("{link} --account a --expires-in 8d")).fails(2, &["from 1s to 7d"]);
    dir.run(&format!("{link} --account a --expires-in 0s")).fails(2, &["from 1s to 7d"]);
    dir.run("settings link --account a --settings-url /settings --database sqlite:none.db").fails(1, &["none.db"]);
}

//! `--settings-owner-header`: a proxy that signs owners in.

use super::visitor::Visitor;
use crate::observed::Observed;
use crate::program::{Server, TestDir};

const HEADER: &str = "--settings-url https://a.example/settings --settings-owner-header Remote-User";
const SECRET: &str = "Catalogue-Proxy-Secret: 0123456789abcdef0123456789abcdef";

fn dir_with_secret() -> TestDir {
    let dir = TestDir::with_courses();
    for (name, secret) in
        [("secret", "0123456789abcdef0123456789abcdef\n"), ("short", "0123456789abcdef0123456789abcde")]
    {
        dir.write(name, secret);
        dir.set_mode(name, 0o600);
    }
    dir
}

fn serve(dir: &TestDir, arguments: &str) -> (Server, Visitor) {
    let server = dir.serve(&format!("{HEADER} {arguments}"));
    let visitor = Visitor::of(&server.address);
    (server, visitor)
}

#[test]
fn owner_header_is_accepted_only_from_trusted_peer() {
    let dir = TestDir::with_courses();
    for (proxies, expected) in [("127.0.0.1", 200), ("127.0.0.1 192.0.2.1/32", 200), ("192.0.2.1", 403)] {
        let (_server, visitor) = serve(&dir, &format!("--trusted-proxies {proxies}"));
        // The forwarded client address does not matter.
        for forwarded in ["X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 127.0.0.1", "X-Other: 1"] {
            let response = visitor.send("GET", "/settings", &["Remote-User: a", forwarded], "");
            assert_eq!(response.status, expected, "{proxies} {forwarded}: {response:?}");
        }
    }
}

#[test]
fn owner_header_requires_the_configured_secret() {
    let dir = dir_with_secret();
    let (server, visitor) = serve(&dir, "--settings-owner-secret file:secret --trusted-proxies 127.0.0.0/8");
    let longest = format!("Remote-User: {}", "x".repeat(200));
    for (fields, expected) in [
        (&[SECRET, "Remote-User: a"][..], 200),
        (&["Remote-User: a"], 403),
        (&[SECRET], 403),
        (&[SECRET, SECRET, "Remote-User: a"], 403),
        (&["Catalogue-Proxy-Secret: 0123456789abcdef0123456789abcdeX", "Remote-User: a"], 403),
        (&["Catalogue-Proxy-Secret: 0123456789abcdef", "Remote-User: a"], 403),
        (&[SECRET, "Remote-User: a", "Remote-User: a"], 403),
        (&[SECRET, "Remote-User:"], 403),
        (&[SECRET, "Remote-User: nobody"], 403),
        (&[SECRET, &longest], 403),
    ] {
        assert_eq!(visitor.send("GET", "/settings", fields, "").status, expected, "{fields:?}");
        let api = visitor.send("GET", "/settings/api/keys", fields, "");
        assert_eq!(api.status, expected, "{fields:?}");
        assert_eq!(api.body.contains("no_owner"), expected == 403, "{api:?}");
    }
    let signed_in = [SECRET, "Remote-User: a", "Origin: https://a.example"];
    assert_eq!(visitor.send("GET", "/settings/sign-in", &signed_in, "").status, 404);
    assert_eq!(visitor.send("POST", "/settings/sign-out", &signed_in, "").status, 404);
    let link = "settings link --account a --settings-url https://a.example/settings";
    let variables = [("CATALOGUE_SETTINGS_OWNER_HEADER", "Remote-User")];
    dir.run_in(&variables, link).fails(2, &["CATALOGUE_SETTINGS_OWNER_HEADER", "a proxy signs owners in"]);
    drop(server);
}

/// The header's value comes from an untrusted client, so it is not logged.
#[test]
fn log_contains_reason_for_rejected_owner_header() {
    let dir = dir_with_secret();
    let (one, two) = (["Remote-User: s3cret"], ["Remote-User: s3cret", "Remote-User: s3cret"]);
    for (arguments, fields, reason) in [
        ("--trusted-proxies 192.0.2.1", &one[..], "unknown_proxy"),
        ("--trusted-proxies 127.0.0.1", &["X-Other: s3cret"], "no_header"),
        ("--trusted-proxies 127.0.0.1", &two, "no_header"),
        ("--settings-owner-secret file:secret", &one, "wrong_secret"),
        ("--trusted-proxies 127.0.0.1 --log debug", &one, ""),
    ] {
        let observed = Observed::start(&dir, &format!("{HEADER} {arguments} --log-format json"));
        assert_eq!(Visitor::of(&observed.server.address).send("GET", "/settings", fields, "").status, 403);
        let log = observed.stop_and_read_log();
        let piece = match reason {
            "" => "no account for the signed-in user".to_owned(),
            reason => format!("\"refusal\":\"{reason}\",\"client\":\"127.0.0.1\""),
        };
        assert!(log.contains(&piece) && !log.contains("s3cret"), "{piece}: {log}");
    }
}

#[test]
fn doctor_warns_that_local_users_can_send_owner_header() {
    let dir = dir_with_secret();
    let doctor = |arguments: &str| dir.run(&format!("doctor --listen 127.0.0.1:0 {HEADER} {arguments}")).out;
    let by_secret = doctor("--settings-owner-secret file:secret");
    assert!(by_secret.contains("remote-user") && by_secret.contains("removes this header"), "{by_secret}");
    assert!(!by_secret.contains("0123456789"), "{by_secret}");
    let local = doctor("--trusted-proxies 127.0.0.1 ::1");
    assert!(local.contains("all local users can send remote-user"), "{local}");
    let checked = dir.run(&format!("config check {HEADER} --trusted-proxies ::1"));
    assert!(checked.status == Some(0) && checked.err.contains("warning: all local users"), "{checked:?}");
    let other = doctor("--trusted-proxies 127.0.0.1 192.0.2.1");
    assert!(!other.contains("all local users"), "{other}");
}

#[test]
fn insecure_owner_header_options_exit_2() {
    let dir = dir_with_secret();
    let check = |arguments: &str| dir.run(&format!("config check {arguments}"));
    for (arguments, pieces) in [
        (HEADER.to_owned(), &["--settings-owner-header", "no proxy is trusted", "--trusted-proxies"][..]),
        (format!("{HEADER} --trusted-proxies 10.0.0.0/8"), &["--trusted-proxies", "single addresses"]),
        (format!("{HEADER} --settings-owner-secret file:short"), &["at least 32"]),
        (format!("{HEADER} --settings-owner-secret file:none"), &["cannot read none: "]),
        (format!("{HEADER} --settings-owner-secret 0123456789abcdef0123456789abcdef"), &["use file:PATH"]),
        ("--settings-owner-header Remote-User --trusted-proxies ::1".to_owned(), &["--settings-url"]),
        ("--settings-url /settings --settings-owner-secret file:secret".to_owned(), &["--settings-owner-header"]),
    ] {
        let outcome = check(&arguments);
        assert!(!outcome.err.contains("0123456789abcdef"), "{outcome:?}");
        outcome.fails(2, pieces);
    }
    for name in [
        "Host",
        "cookie",
        "Authorization",
        "Forwarded",
        "X-Forwarded-User",
        "Origin",
        "Content-Type",
        "Sec-Fetch-Site",
        "X-Real-IP",
        "Traceparent",
        "X-Request-Id",
        "Keep-Alive",
        "Date",
        "Cache-Control",
        "Set-Cookie",
        "Catalogue-Proxy-Secret",
        "a:b",
    ] {
        let arguments = HEADER.replace("Remote-User", name);
        check(&format!("{arguments} --trusted-proxies ::1")).fails(2, &["--settings-owner-header", "like Remote-User"]);
    }
    let displayed = check(&format!("{HEADER} --settings-owner-secret file:secret --json")).json().to_string();
    assert!(!displayed.contains("0123456789") && displayed.contains("\"…\""), "{displayed}");
}

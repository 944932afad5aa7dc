//! `--settings-url`.

use super::visitor::Visitor;
use crate::https::dir_with_certificate;
use crate::program::{Server, TestDir};

#[test]
fn insecure_or_conflicting_settings_url_exits_2() {
    let dir = dir_with_certificate();
    for (arguments, piece) in [
        ("--settings-url /api/v1", "the settings URL \"/api/v1\" would hide"),
        ("--settings-url /docs --base-url https://a.example/api", "the settings URL \"/docs\" would hide"),
        (
            "--settings-url https://a.example/v2/courses --base-url https://a.example/v2",
            "the settings URL \"https://a.example/v2/courses\" would hide",
        ),
        ("--settings-url /docs/openapi.json", "the settings URL \"/docs/openapi.json\" would hide"),
        ("--settings-url https://a.example/", "\"https://a.example/\" has no path"),
        ("--settings-url settings", "e.g. https://api.example.com"),
        ("--settings-url http://a.example/settings", "use https://"),
        ("--settings-url /settings --listen 0.0.0.0:0", "use https://HOST/settings"),
        ("--settings-url /settings --trusted-proxies 127.0.0.1", "use https://HOST/settings"),
    ] {
        for command in ["serve", "config check", "doctor"] {
            dir.run(&format!("{command} {arguments}")).fails(2, &["--settings-url: ", piece]);
        }
    }
    assert_eq!(dir.files(), ["chain.pem", "key.pem"], "no database is created");
    for arguments in [
        "--settings-url /api/v1/settings",
        "--settings-url /settings --listen [::1]:0",
        "--settings-url /settings --listen 0.0.0.0:0 --tls-cert chain.pem --tls-key key.pem",
        "--settings-url https://a.example/settings --listen 0.0.0.0:0 --trusted-proxies 127.0.0.1",
        "--settings-url http://localhost:8080/settings --listen 0.0.0.0:0",
    ] {
        dir.run(&format!("config check {arguments}")).succeeds();
    }
    // An invalid `--listen` causes no further error about the settings URL.
    let outcome = dir.run("config check --settings-url /settings --listen here");
    assert_eq!(outcome.err.lines().count(), 1, "{outcome:?}");
}

/// If a browser uses the listener's port, the server refuses its forms as cross-site requests.
#[test]
fn settings_url_with_other_local_port_gets_warning() {
    let dir = TestDir::new();
    for (arguments, warns) in [
        ("--settings-url http://localhost:9000/settings", true),
        ("--settings-url http://[::1]/settings --listen 80", false),
        ("--settings-url http://127.0.0.1:8080/settings", false),
        ("--settings-url https://a.example:9000/settings", false),
        ("--settings-url http://localhost:9000/settings --listen 127.0.0.1:0", false),
        ("--settings-url /settings", false),
    ] {
        let outcome = dir.run(&format!("config check {arguments}"));
        assert_eq!(outcome.status, Some(0), "{outcome:?}");
        assert_eq!(outcome.err.contains("warning: --settings-url has port 9000"), warns, "{arguments} {outcome:?}");
    }
}

#[test]
fn settings_precede_api_routes_and_are_off_by_default() {
    let dir = TestDir::with_courses();
    let server =
        Server::start(dir.command("serve --listen 127.0.0.1:0").env("CATALOGUE_SETTINGS_URL", "/api/v1/settings"));
    assert_eq!(server.get("/api/v1/settings", "").0, 303);
    assert_eq!((server.get("/api/v1/settings/none", "").0, server.get("/api/v1/courses", "").0), (404, 401));
    let without = dir.serve("");
    assert_eq!(without.get("/settings", "").0, 404);
}

#[test]
fn docs_contain_settings_url() {
    let dir = TestDir::new();
    let arguments = "openapi --format markdown --settings-url https://a.example/settings";
    assert!(dir.run(arguments).succeeds().contains("https://a.example/settings"));
    assert!(!dir.run("openapi --format markdown").succeeds().contains("/settings"));
}

#[test]
fn new_key_page_offers_try_out_if_cors_allows_it() {
    let dir = TestDir::with_courses();
    let url = "--settings-url https://a.example/settings";
    for (arguments, can_try) in [
        ("", true),
        ("--base-url https://a.example/api", true),
        ("--base-url https://b.example/api", false),
        ("--base-url https://b.example/api --cors-origin https://c.example", false),
        ("--base-url https://b.example/api --cors-origin https://c.example https://a.example", true),
    ] {
        let server = dir.serve(&format!("{url} {arguments}"));
        let mut owner = Visitor::of(&server.address);
        let signed_in = owner.sign_in(&dir.run(&format!("settings link --account a {url}")).succeeds());
        assert!(signed_in.head.contains("set-cookie: __Host-") && signed_in.head.contains("; Secure"), "{signed_in:?}");
        assert_eq!(owner.new_key_page("n").contains("data-try="), can_try, "{arguments}");
    }
}

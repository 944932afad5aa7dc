//! `catalogue doctor`: checks of a deployment.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use serde_json::Value;
use time::{Duration, OffsetDateTime};

use crate::databases::on_each_database;
use crate::https::issue_until;
use crate::program::{COURSES, Outcome, TestDir, text};

on_each_database!(expiring_and_permanent_keys_are_listed, unused_keys_are_listed, valid_deployment_passes_all_checks,);

/// Returns the findings of a check: verdict and message.
pub(crate) fn findings(outcome: &Outcome, check: &str) -> Vec<(String, String)> {
    let report: Value = serde_json::from_str(&outcome.out).unwrap_or_else(|_| panic!("{outcome:?}"));
    let findings = report["findings"].as_array().unwrap().iter().filter(|finding| finding["check"] == check);
    findings.map(|finding| (text(finding, "verdict").to_owned(), text(finding, "message").to_owned())).collect()
}

/// Returns the only finding of a check.
fn finding(outcome: &Outcome, check: &str) -> (String, String) {
    let mut found = findings(outcome, check);
    assert_eq!(found.len(), 1, "{check}: {outcome:?}");
    found.remove(0)
}

fn valid_deployment_passes_all_checks(dir: &TestDir) {
    let checks = match dir.is_postgres() {
        true => {
            let outcome = dir.run("doctor --json --max-connections 10");
            assert_eq!((outcome.status, finding(&outcome, "database").0), (Some(1), "error".to_owned()));
            &["open files", "database", "credentials"][..]
        }
        false => &["clock", "open files", "permissions", "journal", "database", "integrity", "credentials"],
    };
    dir.import(COURSES);
    assert_eq!(finding(&dir.run("doctor --json"), "credentials").0, "warning", "nobody has a key");
    dir.key("a");
    dir.run("keys create --account b --name n --scope read:courses --expires-in 90d").succeeds();
    if !dir.is_postgres() {
        dir.set_mode("catalogue.db", 0o640);
    }
    let outcome = dir.run("doctor --json --max-connections 10");
    assert_eq!((outcome.status, &*outcome.err), (Some(0), ""), "{outcome:?}");
    for check in checks {
        assert_eq!(finding(&outcome, check).0, "ok", "{check}: {outcome:?}");
    }
    assert_eq!(finding(&outcome, "credentials").1, "active: 2; expiring within 7 days: 0, never: 1");
    if dir.is_postgres() {
        let clocks: Vec<_> = findings(&outcome, "clock").into_iter().map(|(verdict, _)| verdict).collect();
        assert_eq!(clocks, ["ok", "ok"], "this machine's and the database's: {outcome:?}");
        assert!(["journal", "primary"].iter().all(|check| findings(&outcome, check).is_empty()), "{outcome:?}");
    }
    let lines = dir.run("doctor --max-connections 10").succeeds();
    let line = format!("ok       database     {}", dir.database_name());
    assert!(lines.lines().any(|found| found.starts_with(&line)), "{lines}");
}

/// Returns the message of the check `credentials` and the keys that it names.
fn credentials(dir: &TestDir) -> (String, Vec<Value>) {
    let report: Value = serde_json::from_str(&dir.run("doctor --json").out).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["check"] == "credentials").unwrap();
    (text(found, "message").to_owned(), found["keys"].as_array().unwrap().clone())
}

/// Lists at most five of each kind: the keys that expire first, and the oldest permanent keys.
fn expiring_and_permanent_keys_are_listed(dir: &TestDir) {
    dir.import(COURSES);
    let create = |account: &str, arguments: &str| {
        let create = format!("keys create --account {account} --name n --scope read:courses --json {arguments}");
        text(&dir.run(&create).json(), "id").to_owned()
    };
    let soon: Vec<_> = (1..=6).rev().map(|days| create("b", &format!("--expires-in {days}d"))).collect();
    let never: Vec<_> = (0..7).map(|_| create("a", "")).collect();
    create("a", "--expires-in 30d");
    let (message, named) = credentials(dir);
    assert!(message.starts_with("active: 14; expiring within 7 days: 6, never: 7"), "{message}");
    let ids: Vec<_> = named.iter().map(|key| text(key, "id")).collect();
    assert_eq!(ids, soon.iter().rev().take(5).chain(&never[..5]).collect::<Vec<_>>());
    assert_eq!((&named[0]["account"], &named[9]["account"]), (&"b".into(), &"a".into()));
    assert!(named[0]["expiresAt"].is_string() && named[9]["expiresAt"].is_null(), "{named:?}");
    let lines = dir.run("doctor").out;
    let day = &text(&named[0], "expiresAt")[..10];
    assert!(lines.contains(&format!("\n{:22}{} of b expires on {day}\n", "", ids[0])), "{lines}");
    assert!(lines.contains(&format!("{} of a, created on ", ids[9])) && !lines.contains(&never[6]), "{lines}");
}

/// Lists at most five, the longest unused first. New keys do not count: clients have had no time to use them.
fn unused_keys_are_listed(dir: &TestDir) {
    dir.import(COURSES);
    let create = "keys create --account a --name n --scope read:courses --expires-in 400d --json";
    let ids: Vec<_> = (0..8).map(|_| text(&dir.run(create).json(), "id").to_owned()).collect();
    let host = dir.host();
    let created_before = |days: i64, id: &str| {
        let change = format!("created_at = created_at - {}", days * 86_400_000_000);
        host.run(&format!("UPDATE credentials SET {change} WHERE id = '{id}'"));
    };
    ids[..6].iter().zip(91..).for_each(|(id, days)| created_before(days, id));
    created_before(300, &ids[6]);
    let used = format!("last_used_at = created_at + {}", 299 * 86_400_000_000_i64);
    host.run(&format!("UPDATE credentials SET {used} WHERE id = '{}'", ids[6]));
    let (message, named) = credentials(dir);
    assert_eq!(message, "active: 8; expiring within 7 days: 0, never: 0; unused for 90 days: 6");
    assert!(named.iter().map(|key| text(key, "id")).eq(ids[1..6].iter().rev()), "{named:?}");
    let day = &text(&named[0], "unusedSince")[..10];
    let lines = dir.run("doctor").out;
    assert!(lines.contains(&format!("{} of a has been unused since {day}\n", ids[5])), "{lines}");
}

#[test]
fn file_permissions_and_journal_mode_are_checked() {
    let dir = TestDir::with_courses();
    dir.run("keys create --account a --name n --scope read:courses --expires-in 1d").succeeds();
    dir.set_mode("catalogue.db", 0o644);
    let outcome = dir.run("doctor --json");
    assert_eq!(outcome.status, Some(0), "warnings are not errors");
    assert_eq!(finding(&outcome, "permissions").0, "warning");
    assert!(finding(&outcome, "credentials").1.contains("within 7 days: 1"), "{outcome:?}");
    dir.set_mode("catalogue.db", 0o666);
    assert_eq!(dir.host().texts("PRAGMA journal_mode = delete"), ["delete"]);
    let outcome = dir.run("doctor --json");
    assert_eq!((outcome.status, finding(&outcome, "permissions").0), (Some(1), "error".to_owned()));
    assert_eq!(finding(&outcome, "journal").0, "warning");
    assert_eq!(outcome.err, "error: 1 problem found\n");
}

#[test]
fn journal_check_is_skipped_for_other_applications_database() {
    let dir = TestDir::new();
    dir.host().run("PRAGMA application_id = 7; CREATE TABLE other (id INTEGER)");
    let outcome = dir.run("doctor --json");
    assert!(finding(&outcome, "database").1.contains("another program"), "{outcome:?}");
    assert!(!outcome.out.contains("\"journal\""), "{outcome:?}");
}

#[test]
fn world_writable_directory_gets_warning() {
    let dir = TestDir::with_courses();
    dir.set_mode("catalogue.db", 0o640);
    dir.set_mode(".", 0o777);
    let outcome = dir.run("doctor --json");
    let found = findings(&outcome, "permissions");
    let [(verdict, message), _] = &*found else { panic!("{outcome:?}") };
    assert!(verdict == "warning" && message.ends_with("chmod o-w ."), "{message}");
    assert_eq!(outcome.status, Some(0));
    dir.set_mode(".", 0o770);
    assert_eq!(finding(&dir.run("doctor --json"), "permissions").0, "ok");
}

#[test]
fn unusable_database_is_error() {
    let dir = TestDir::new();
    let missing = dir.run("doctor --json");
    assert_eq!((missing.status, finding(&missing, "database").0), (Some(0), "warning".to_owned()), "serve creates it");
    assert!(dir.files().is_empty(), "doctor does not create it");
    let missing = dir.run("doctor --json --no-migrate");
    assert_eq!((missing.status, finding(&missing, "database").0), (Some(1), "error".to_owned()));
    dir.write("other.db", "x".repeat(10_000));
    let other = dir.run("doctor --json --database sqlite:other.db");
    let (verdict, message) = finding(&other, "database");
    assert!(other.status == Some(1) && verdict == "error" && message.contains("not an SQLite database"), "{message}");
}

#[test]
fn certificate_expiry_and_key_permissions_are_checked() {
    let dir = TestDir::with_courses();
    let issue = |days| issue_until(&dir, OffsetDateTime::now_utc() + Duration::days(days));
    let run_doctor = || dir.run("doctor --json --tls-cert chain.pem --tls-key key.pem");
    issue(60);
    dir.set_mode("key.pem", 0o600);
    let outcome = run_doctor();
    assert_eq!(finding(&outcome, "certificate").0, "ok");
    assert!(findings(&outcome, "permissions")[0].1.contains("key.pem is not accessible to other users"), "{outcome:?}");
    issue(3);
    dir.set_mode("key.pem", 0o644);
    let outcome = run_doctor();
    let (verdict, message) = finding(&outcome, "certificate");
    assert!(verdict == "warning" && message.ends_with("renew it"), "{message}");
    assert!(findings(&outcome, "permissions")[0].1.contains("key.pem is readable by all users"), "{outcome:?}");
    issue(-1);
    let outcome = run_doctor();
    assert_eq!((outcome.status, finding(&outcome, "certificate").0), (Some(1), "error".to_owned()));
    assert_eq!(finding(&outcome, "database").0, "ok", "the remaining checks run");
}

#[test]
fn unacceptable_certificate_gets_warnings() {
    let dir = TestDir::with_courses();
    let (root_key, key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let mut root = CertificateParams::new([]).unwrap();
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root = CertifiedIssuer::self_signed(root, root_key).unwrap();
    let issue = |params: &CertificateParams, further: &str| {
        dir.write("chain.pem", params.signed_by(&key, &root).unwrap().pem() + further);
        dir.write("key.pem", key.serialize_pem());
    };
    let run_doctor = |base_url: &str| {
        let outcome = dir.run(&format!("doctor --json --tls-cert chain.pem --tls-key key.pem --base-url {base_url}"));
        assert_eq!((outcome.status, &*outcome.err), (Some(0), ""), "warnings are not errors: {outcome:?}");
        let warnings = findings(&outcome, "certificate").into_iter().filter(|(verdict, _)| verdict == "warning");
        warnings.map(|(_, message)| message).collect::<Vec<_>>()
    };
    let mut params = CertificateParams::new(["api.example.com".to_owned(), "::1".to_owned()]).unwrap();
    issue(&params, &root.pem());
    for base_url in ["/api/v1", "https://api.example.com/api/v1", "https://[::1]:8443/api/v1"] {
        assert_eq!(run_doctor(base_url), [""; 0]);
    }
    let other = run_doctor("https://www.example.com/api/v1");
    assert!(other.len() == 1 && other[0].starts_with("is not valid for www.example.com, "), "{other:?}");
    issue(&params, "");
    let incomplete = run_doctor("/api/v1");
    assert!(incomplete.len() == 1 && incomplete[0].contains("intermediate certificates"), "{incomplete:?}");
    params.subject_alt_names.clear();
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    issue(&params, &root.pem());
    let refused = run_doctor("https://api.example.com/api/v1");
    assert!(refused.len() == 2 && refused[0].contains("subjectAltName"), "{refused:?}");
    assert!(refused[1].contains("serverAuth"), "{refused:?}");
}

#[cfg(feature = "redis")]
#[test]
fn readable_file_with_password_is_reported() {
    let dir = TestDir::with_courses();
    dir.write("store", "redis://:s3cret@127.0.0.1:1/0");
    dir.write("c.toml", "rate-limit = '600/1m'\nrate-limit-store = 'file:store'\n");
    dir.set_mode("store", 0o600);
    dir.set_mode("c.toml", 0o644);
    let outcome = dir.run("doctor --json --config c.toml");
    let found = findings(&outcome, "permissions");
    assert!(
        found[0].1.starts_with("store is not accessible to other users")
            && !found.iter().any(|(_, message)| message.contains("c.toml"))
    );
    dir.write("c.toml", "rate-limit = '600/1m'\nrate-limit-store = 'redis://:s3cret@127.0.0.1:1/0'\n");
    let outcome = dir.run("doctor --json --config c.toml");
    assert!(findings(&outcome, "permissions")[0].1.contains("c.toml is readable by all users"), "{outcome:?}");
    assert!(!outcome.out.contains("s3cret") && !outcome.err.contains("s3cret"));
    dir.run("doctor --listen here").fails(2, &["--listen"]);
}

#[test]
fn listeners_and_trusted_proxies_are_checked() {
    let dir = TestDir::with_courses();
    let run_doctor = |arguments: &str| dir.run(&format!("doctor --json {arguments}"));
    let valid = run_doctor("--listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --trusted-proxies 10.0.0.0/8");
    assert_eq!(valid.status, Some(0), "{valid:?}");
    assert!(findings(&valid, "admin").iter().all(|(verdict, _)| verdict == "ok"), "{valid:?}");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let used = run_doctor(&format!("--listen {}", listener.local_addr().unwrap()));
    assert!(findings(&used, "admin").is_empty(), "{used:?}");
    let wrong = run_doctor("--listen 192.0.2.1:0 --admin-listen 0.0.0.0:0 --trusted-proxies 0.0.0.0/0");
    assert_eq!(wrong.status, Some(1));
    let (verdict, message) = findings(&wrong, "admin").pop().unwrap();
    assert!(verdict == "warning" && message.contains("use an internal address"), "{message}");
    let behind = run_doctor("--listen 127.0.0.1:0 --base-url https://api.example.com/api/v1");
    for (outcome, check, verdict, piece) in [
        (&valid, "listen", "ok", " is free"),
        (&valid, "proxies", "ok", "trusted proxies pass client addresses"),
        (&used, "listen", "ok", " is in use, probably by the running server"),
        (&used, "proxies", "ok", "is that of its connection"),
        (&wrong, "listen", "error", "192.0.2.1 is not an address of this machine"),
        (&wrong, "proxies", "error", "list only your proxies"),
        (&behind, "proxies", "warning", "--trusted-proxies"),
    ] {
        let (found, message) = finding(outcome, check);
        assert!(found == verdict && message.contains(piece), "{check}: {found}: {message}");
    }
}

#[cfg(feature = "redis")]
#[test]
fn rate_limit_store_is_checked() {
    use crate::closed_port::ClosedPort;
    use crate::redis::Redis;

    let dir = TestDir::with_courses();
    let run_doctor = |port| {
        let store = format!("redis://:s3cret@127.0.0.1:{port}");
        dir.run(&format!("doctor --json --rate-limit 600/1m --rate-limit-store {store}"))
    };
    let port = ClosedPort::new();
    let offline = run_doctor(port.number());
    let (verdict, message) = finding(&offline, "rate limit");
    assert!(verdict == "warning" && message.contains("start Redis") && offline.status == Some(0), "{offline:?}");
    assert!(!offline.out.contains("s3cret"), "{message}");
    assert!(findings(&dir.run("doctor --json --rate-limit 600/1m"), "rate limit").is_empty());
    let Some(redis) = Redis::start() else { return };
    let store = format!("--rate-limit 600/1m --rate-limit-store {}", redis.url());
    let (verdict, message) = finding(&dir.run(&format!("doctor --json {store}")), "rate limit");
    assert!(verdict == "ok" && message.starts_with("600/1m in redis://127.0.0.1:"), "{message}");

    redis.require_password("s3cret");
    for user in ["", ":guess@"] {
        let store = redis.url().replace("//", &format!("//{user}"));
        let refused = dir.run(&format!("doctor --json --rate-limit 600/1m --rate-limit-store {store}"));
        let (verdict, message) = finding(&refused, "rate limit");
        assert!(verdict == "warning" && message.contains("; set the user and password"), "{message}");
        assert!(!message.contains("start Redis") && !message.contains("guess"), "{message}");
    }
    assert_eq!(finding(&run_doctor(redis.port()), "rate limit").0, "ok");
}

//! An issuer behind TLS.

use rcgen::{CertificateParams, KeyPair};
use time::{Duration, OffsetDateTime};

use crate::issuer::{Issuer, courses, fetched, options};
use crate::observed::Observed;
use crate::program::TestDir;

/// Writes a certificate for that name, good for so many days from now.
fn issue(dir: &TestDir, name: &str, days: i64) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new([name.to_owned()]).unwrap();
    params.not_before = OffsetDateTime::now_utc() - Duration::days(9);
    params.not_after = OffsetDateTime::now_utc() + Duration::days(days);
    dir.write("chain.pem", params.self_signed(&key).unwrap().pem());
    dir.write("key.pem", key.serialize_pem());
}

fn serve(dir: &TestDir, issuer: &Issuer, trusted: &str) -> Observed {
    let serve = "serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0";
    let mut command = dir.command(&format!("{serve} {}", options(issuer)));
    Observed::by(dir, command.env("SSL_CERT_FILE", dir.path(trusted)).env_remove("SSL_CERT_DIR"))
}

#[test]
fn an_issuer_is_proved_by_its_certificate() {
    let dir = TestDir::with_courses();
    issue(&dir, "localhost", 9);
    let Some(issuer) = Issuer::start_secured(&dir) else { return };
    let observed = serve(&dir, &issuer, "chain.pem");
    fetched(&observed, 1.0);
    assert_eq!(courses(&observed, &issuer.signed("")), 200);
}

#[test]
fn without_that_proof_there_are_no_keys() {
    let other = TestDir::new();
    issue(&other, "localhost", 9);
    for (name, days, trusted, why) in [
        ("elsewhere.example", 9, "chain.pem", "NotValidForName"),
        ("localhost", -1, "chain.pem", "xpired"),
        ("localhost", 9, "other.pem", "UnknownIssuer"),
    ] {
        let dir = TestDir::with_courses();
        issue(&dir, name, days);
        dir.write("other.pem", std::fs::read(other.path("chain.pem")).unwrap());
        let Some(issuer) = Issuer::start_secured(&dir) else { return };
        let observed = serve(&dir, &issuer, trusted);
        observed.logs("the issuer's keys cannot be fetched");
        assert_eq!(courses(&observed, &issuer.signed("")), 500, "{why}");
        let log = observed.log();
        assert!(log.contains(why), "{why}: {log}");
    }
}

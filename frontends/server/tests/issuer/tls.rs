//! An issuer behind TLS.

use rcgen::{CertificateParams, DnType, KeyPair};
use time::{Duration, OffsetDateTime};

use crate::issuer::{Issuer, courses, options, wait_for_fetches};
use crate::observed::Observed;
use crate::program::TestDir;

/// Writes a certificate for `name` that expires in `days` days.
fn issue(dir: &TestDir, name: &str, days: i64) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new([name.to_owned()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, dir.path("").display().to_string());
    params.not_before = OffsetDateTime::now_utc() - Duration::days(9);
    params.not_after = OffsetDateTime::now_utc() + Duration::days(days);
    dir.write("chain.pem", params.self_signed(&key).unwrap().pem());
    dir.write("key.pem", key.serialize_pem());
}

fn serve(dir: &TestDir, issuer: &Issuer, trusted: &str) -> Observed {
    let serve = "serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0";
    let mut command = dir.command(&format!("{serve} {}", options(issuer)));
    Observed::start_with(dir, command.env("SSL_CERT_FILE", dir.path(trusted)).env_remove("SSL_CERT_DIR"))
}

#[test]
fn issuer_with_trusted_certificate_is_accepted() {
    let dir = TestDir::with_courses();
    issue(&dir, "localhost", 9);
    let Some(issuer) = Issuer::start_secured(&dir) else { return };
    let observed = serve(&dir, &issuer, "chain.pem");
    wait_for_fetches(&observed, 1.0);
    assert_eq!(courses(&observed, &issuer.signed("")), 200);
}

#[test]
fn issuer_with_invalid_certificate_is_rejected() {
    let other = TestDir::new();
    issue(&other, "localhost", 9);
    for (name, days, trusted, why) in [
        ("elsewhere.example", 9, "chain.pem", "not valid for name"),
        ("localhost", -1, "chain.pem", "expired"),
        ("localhost", 9, "other.pem", "UnknownIssuer"),
    ] {
        let dir = TestDir::with_courses();
        issue(&dir, name, days);
        dir.write("other.pem", std::fs::read(other.path("chain.pem")).unwrap());
        let Some(issuer) = Issuer::start_secured(&dir) else { return };
        let observed = serve(&dir, &issuer, trusted);
        observed.wait_for_log("cannot fetch the issuer's keys");
        assert_eq!(courses(&observed, &issuer.signed("")), 500, "{why}");
        let log = observed.log();
        assert!(log.contains(why), "{why}: {log}");
    }
}

//! An issuer behind TLS.

use rcgen::{CertificateParams, DnType, KeyPair};
use time::{Duration, OffsetDateTime};

use super::server::{Issuer, courses, options, wait_for_fetches};
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

#[test]
fn issuer_needs_trusted_certificate_for_its_name() {
    let other = TestDir::new();
    issue(&other, "localhost", 9);
    for (name, days, trusted, error) in [
        ("localhost", 9, "chain.pem", None),
        ("elsewhere.example", 9, "chain.pem", Some("not valid for name")),
        ("localhost", -1, "chain.pem", Some("expired")),
        ("localhost", 9, "other.pem", Some("UnknownIssuer")),
    ] {
        let dir = TestDir::with_courses();
        issue(&dir, name, days);
        dir.write("other.pem", std::fs::read(other.path("chain.pem")).unwrap());
        let Some(issuer) = Issuer::start_secured(&dir) else { return };
        let serve = format!("serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 {}", options(&issuer));
        let mut command = dir.command(&serve);
        command.env("SSL_CERT_FILE", dir.path(trusted)).env_remove("SSL_CERT_DIR");
        let observed = Observed::start_with(&dir, &mut command);
        match error {
            None => wait_for_fetches(&observed, 1.0),
            Some(_) => observed.wait_for_log("cannot fetch the issuer's keys"),
        }
        assert_eq!(courses(&observed, &issuer.signed("")), if error.is_some() { 500 } else { 200 }, "{error:?}");
        assert!(observed.log().contains(error.unwrap_or_default()), "{error:?}: {}", observed.log());
    }
}

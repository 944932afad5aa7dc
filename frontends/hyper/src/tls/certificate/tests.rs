//! Messages about unusable certificates and keys; each names only the first problem.

use std::fs;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::crypto::aws_lc_rs;
use tempfile::TempDir;
use time::Duration;

use super::*;

/// A certificate without extensions, as made by `openssl x509 -req -signkey`.
const VERSION_1: &str = "-----BEGIN CERTIFICATE-----
MIIBIzCBywIUVj5gBF779i3xoSg/8/nr4ew8BpMwCgYIKoZIzj0EAwIwFDESMBAG
A1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMDE1NTMwOFoYDzIxMjYxMDI3MTU1MzA4
WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AAR8j+zktaRMsbXTc1XJD8aQM3le1sZzNvc7bX6K6AnNO/h7beIShtKrAv1vKFau
WpimHpMpl+3h3cVJwxMdImRnMAoGCCqGSM49BAMCA0cAMEQCIAKD94s9TcSt3SMi
CO9Y8Kh7BA91r+PClpyuWBgswPo8AiBMWtb1Czgcm5H77THgrvDxov5JFbZT1+Dy
hhyGjwB+bA==
-----END CERTIFICATE-----
";

/// A directory for the two files, the server's key, and the issuer of its certificates.
struct Fixture {
    directory: TempDir,
    key: KeyPair,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Fixture {
    fn new() -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        Self { directory: tempfile::tempdir().unwrap(), key: KeyPair::generate().unwrap(), issuer }
    }

    /// Returns a server's certificate that expires `hours` from now.
    fn issued(&self, hours: i64) -> rcgen::Certificate {
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        params.not_after = OffsetDateTime::now_utc() + Duration::hours(hours);
        params.signed_by(&self.key, &self.issuer).unwrap()
    }

    fn files(&self) -> CertificateFiles {
        let path = |name: &str| self.directory.path().join(name);
        CertificateFiles { certificate: path("chain.pem"), key: path("key.pem") }
    }

    /// Loads a certificate and a key with these contents.
    fn check(&self, certificate: impl AsRef<[u8]>, key: impl AsRef<[u8]>) -> Result<ServerCertificate, String> {
        let files = self.files();
        fs::write(&files.certificate, certificate).unwrap();
        fs::write(&files.key, key).unwrap();
        files.load(&aws_lc_rs::default_provider(), &[]).map_err(|error| error.to_string())
    }

    /// Returns the message about these contents, without the directory.
    #[track_caller]
    fn load_error(&self, certificate: impl AsRef<[u8]>, key: impl AsRef<[u8]>) -> String {
        let error = self.check(certificate, key).unwrap_err();
        let error = error.replace(&format!("{}/", self.directory.path().display()), "");
        assert_eq!(error.matches("; ").count(), 1, "a problem and its fix: {error}");
        error
    }
}

#[test]
fn certificate_is_checked_before_key_and_match() {
    let fixture = Fixture::new();
    let (good, expired, key) = (fixture.issued(1).pem(), fixture.issued(-1).pem(), fixture.key.serialize_pem());
    let other = KeyPair::generate().unwrap().serialize_pem();
    assert!(fixture.load_error(&expired, &other).starts_with("the certificate in chain.pem expired on "));
    assert!(fixture.load_error(&expired, "").starts_with("the certificate in chain.pem expired on "));
    assert!(fixture.load_error(VERSION_1, &key).starts_with("the certificate in chain.pem has X.509 version 1"));
    assert!(fixture.load_error(&good, &other).contains("key.pem does not belong to the certificate in chain.pem"));
    fixture.check(&good, &key).unwrap();
}

#[test]
fn certificate_in_use_is_accepted_when_expired() {
    let fixture = Fixture::new();
    let (expired, key) = (fixture.issued(-1), fixture.key.serialize_pem());
    fixture.load_error(expired.pem(), &key);
    let load = |in_use: &rcgen::Certificate| {
        fixture.files().load(&aws_lc_rs::default_provider(), std::slice::from_ref(in_use.der()))
    };
    assert_eq!(load(&expired).unwrap().certified_key.cert[0], *expired.der());
    assert!(load(&fixture.issued(-2)).is_err());
    fs::remove_file(fixture.files().key).unwrap();
    assert!(load(&expired).is_err());
}

#[test]
fn wrong_chain_order_is_distinguished_from_wrong_key() {
    let fixture = Fixture::new();
    let (own, issuer, key) = (fixture.issued(1).pem(), fixture.issuer.pem(), fixture.key.serialize_pem());
    fixture.check(format!("{own}{issuer}"), &key).unwrap();
    let error = fixture.load_error(format!("{issuer}{own}"), &key);
    assert!(error.starts_with("the key in key.pem belongs to certificate 2 in chain.pem; "), "{error}");
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let error = fixture.load_error(format!("{own}{broken}"), &key);
    assert!(error.starts_with("certificate 2 in chain.pem is malformed; "), "{error}");
}

#[test]
fn invalid_pem_is_reported_without_content() {
    let fixture = Fixture::new();
    let (certificate, key) = (fixture.issued(1), fixture.key.serialize_pem());
    let good = certificate.pem();
    assert!(fixture.load_error(certificate.der(), &key).contains("`openssl x509 -inform der`"));
    assert!(fixture.load_error(&good, fixture.key.serialize_der()).contains("`openssl pkey -inform der`"));
    assert!(
        fixture.load_error(&good, fixture.key.public_key_pem()).contains("no private key in key.pem, only PUBLIC KEY")
    );
    for (key, expected) in [
        ("-----BEGIN s3cret", "the first line of a section is truncated"),
        ("-----BEGIN PRIVATE KEY-----\ns3cret", "a section has no end line"),
        ("-----BEGIN PRIVATE KEY-----\ns3cret!\n-----END PRIVATE KEY-----\n", "a section is not base64"),
        ("-----BEGIN S3CRET-----\nAAAA\n-----END S3CRET-----\n", "no private key in key.pem; "),
        ("s3cret", "no private key in key.pem; "),
    ] {
        let message = fixture.load_error(&good, key);
        assert!(message.contains(expected) && !message.to_lowercase().contains("s3cret"), "{message}");
    }
}

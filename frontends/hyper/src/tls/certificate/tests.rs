//! Messages about unusable pairs: only the first problem.

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

/// A directory for a certificate and its key, and their issuer.
struct Desk {
    directory: TempDir,
    key: KeyPair,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Desk {
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
    fn complaint(&self, certificate: impl AsRef<[u8]>, key: impl AsRef<[u8]>) -> String {
        let complaint = self.check(certificate, key).unwrap_err();
        let complaint = complaint.replace(&format!("{}/", self.directory.path().display()), "");
        assert_eq!(complaint.matches("; ").count(), 1, "what is wrong, and what would be right: {complaint}");
        complaint
    }
}

#[test]
fn the_certificate_is_looked_at_before_the_key_and_both_before_whether_they_belong_together() {
    let desk = Desk::new();
    let (good, expired, key) = (desk.issued(1).pem(), desk.issued(-1).pem(), desk.key.serialize_pem());
    let other = KeyPair::generate().unwrap().serialize_pem();
    assert!(desk.complaint(&expired, &other).starts_with("the certificate in chain.pem expired on "));
    assert!(desk.complaint(&expired, "").starts_with("the certificate in chain.pem expired on "));
    assert!(desk.complaint(VERSION_1, &key).starts_with("the certificate in chain.pem is of version 1 of X.509"));
    assert!(desk.complaint(&good, &other).contains("key.pem does not belong to the certificate in chain.pem"));
    desk.check(&good, &key).unwrap();
}

#[test]
fn the_certificate_in_use_is_the_same_also_when_it_has_expired() {
    let desk = Desk::new();
    let (expired, key) = (desk.issued(-1), desk.key.serialize_pem());
    desk.complaint(expired.pem(), &key);
    let load = |in_use: &rcgen::Certificate| {
        desk.files().load(&aws_lc_rs::default_provider(), std::slice::from_ref(in_use.der()))
    };
    assert_eq!(load(&expired).unwrap().certified_key.cert[0], *expired.der());
    assert!(load(&desk.issued(-2)).is_err());
    fs::remove_file(desk.files().key).unwrap();
    assert!(load(&expired).is_err());
}

#[test]
fn the_order_of_the_chain_is_told_from_a_foreign_key() {
    let desk = Desk::new();
    let (own, issuer, key) = (desk.issued(1).pem(), desk.issuer.pem(), desk.key.serialize_pem());
    desk.check(format!("{own}{issuer}"), &key).unwrap();
    let complaint = desk.complaint(format!("{issuer}{own}"), &key);
    assert!(complaint.starts_with("the key in key.pem belongs to certificate 2 in chain.pem; "), "{complaint}");
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let complaint = desk.complaint(format!("{own}{broken}"), &key);
    assert!(complaint.starts_with("certificate 2 in chain.pem is malformed; "), "{complaint}");
}

#[test]
fn what_is_no_pem_is_named_and_nothing_of_it_repeated() {
    let desk = Desk::new();
    let (certificate, key) = (desk.issued(1), desk.key.serialize_pem());
    let good = certificate.pem();
    assert!(desk.complaint(certificate.der(), &key).contains("`openssl x509 -inform der`"));
    assert!(desk.complaint(&good, desk.key.serialize_der()).contains("`openssl pkey -inform der`"));
    assert!(desk.complaint(&good, desk.key.public_key_pem()).contains("no private key, only PUBLIC KEY"));
    for (key, complaint) in [
        ("-----BEGIN s3cret", "the line that begins a section is cut off"),
        ("-----BEGIN PRIVATE KEY-----\ns3cret", "a section has no end"),
        ("-----BEGIN PRIVATE KEY-----\ns3cret!\n-----END PRIVATE KEY-----\n", "a section is not base64"),
        ("-----BEGIN S3CRET-----\nAAAA\n-----END S3CRET-----\n", "key.pem has no private key; "),
        ("s3cret", "key.pem has no private key; "),
    ] {
        let message = desk.complaint(&good, key);
        assert!(message.contains(complaint) && !message.to_lowercase().contains("s3cret"), "{message}");
    }
}

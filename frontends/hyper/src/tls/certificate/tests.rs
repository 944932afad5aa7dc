//! Messages about unusable certificates and keys; each names only the first problem.

use std::fs;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::crypto::aws_lc_rs;
use tempfile::TempDir;
use time::Duration;

use super::*;
use crate::Tls;

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

    /// Returns a server's certificate that is valid from `from` to `to` hours from now.
    fn issued(&self, from: i64, to: i64) -> rcgen::Certificate {
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        let now = OffsetDateTime::now_utc();
        (params.not_before, params.not_after) = (now + Duration::hours(from), now + Duration::hours(to));
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
fn first_problem_is_reported_without_content() {
    const BROKEN: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let fixture = Fixture::new();
    let (certificate, issuer, key) = (fixture.issued(-1, 1), fixture.issuer.pem(), fixture.key.serialize_pem());
    let (expired, future) = (fixture.issued(-2, -1).pem(), fixture.issued(1, 2).pem());
    let (own, other) = (certificate.pem(), KeyPair::generate().unwrap().serialize_pem());
    fixture.check(&own, &key).unwrap();
    fixture.check(format!("{own}{issuer}"), &key).unwrap();
    for (chain, expected) in [
        (key.as_bytes(), "chain.pem, only PRIVATE KEY; use the chain in PEM"),
        (b"", "chain.pem, which is empty; use the chain in PEM"),
        (&own.as_bytes()[..own.len() / 2], "chain.pem is not PEM: a section has no end line"),
        (certificate.der(), "`openssl x509 -inform der`"),
        (BROKEN.as_bytes(), "certificate 1 in chain.pem is malformed; "),
        (format!("{own}{BROKEN}").as_bytes(), "certificate 2 in chain.pem is malformed; "),
        (format!("{issuer}{own}").as_bytes(), "the key in key.pem belongs to certificate 2 in chain.pem; "),
        (VERSION_1.as_bytes(), "the certificate in chain.pem has X.509 version 1"),
        (expired.as_bytes(), "the certificate in chain.pem expired on 20"),
        (future.as_bytes(), "the certificate in chain.pem is not valid before 20"),
    ] {
        let message = fixture.load_error(chain, &key);
        assert!(message.contains(expected), "{expected}: {message}");
    }
    for (key, expected) in [
        (own.as_bytes(), "key.pem, only CERTIFICATE; use PEM"),
        (other.as_bytes(), "key.pem does not belong to the certificate in chain.pem"),
        (&fixture.key.serialize_der(), "`openssl pkey -inform der`"),
        (fixture.key.public_key_pem().as_bytes(), "no private key in key.pem, only PUBLIC KEY"),
        (b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n", "key.pem is encrypted"),
        (
            b"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----\n",
            "key.pem is encrypted",
        ),
        (b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "key.pem is malformed or not supported; "),
        (b"-----BEGIN s3cret", "the first line of a section is truncated"),
        (b"-----BEGIN PRIVATE KEY-----\ns3cret", "a section has no end line"),
        (b"-----BEGIN PRIVATE KEY-----\ns3cret!\n-----END PRIVATE KEY-----\n", "a section is not base64"),
        (b"-----BEGIN S3CRET-----\nAAAA\n-----END S3CRET-----\n", "no private key in key.pem; "),
        (b"s3cret", "no private key in key.pem; "),
    ] {
        let message = fixture.load_error(&own, key);
        assert!(message.contains(expected) && !message.to_lowercase().contains("s3cret"), "{expected}: {message}");
        // The certificate is checked first.
        assert!(fixture.load_error(&expired, key).starts_with("the certificate in chain.pem expired on "));
    }
    fs::remove_file(fixture.files().key).unwrap();
    let error = Tls::load(fixture.files()).unwrap_err().to_string();
    assert!(error.contains("key.pem: No such file"), "{error}");
}

#[test]
fn certificate_in_use_is_accepted_when_expired() {
    let fixture = Fixture::new();
    let (expired, key) = (fixture.issued(-2, -1), fixture.key.serialize_pem());
    fixture.load_error(expired.pem(), &key);
    let load = |in_use: &rcgen::Certificate| {
        fixture.files().load(&aws_lc_rs::default_provider(), std::slice::from_ref(in_use.der()))
    };
    assert_eq!(load(&expired).unwrap().certified_key.cert[0], *expired.der());
    assert!(load(&fixture.issued(-3, -2)).is_err());
    fs::remove_file(fixture.files().key).unwrap();
    assert!(load(&expired).is_err());
}

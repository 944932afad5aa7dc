//! HTTPS of `catalogue serve`, and unusable certificates.

use std::net::TcpStream;
use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, pem::PemObject as _};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use time::{Duration, OffsetDateTime};

use crate::dashboard;
use crate::observed::Observed;
use crate::program::{Server, TestDir};

/// Returns a directory with a certificate for `localhost` and its key.
pub(crate) fn dir_with_certificate() -> TestDir {
    let dir = TestDir::new();
    issue(&dir);
    dir
}

pub(crate) fn issue(dir: &TestDir) {
    issue_until(dir, OffsetDateTime::now_utc() + Duration::days(90));
}

pub(crate) fn issue_until(dir: &TestDir, not_after: OffsetDateTime) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    params.not_after = not_after;
    dir.write("chain.pem", params.self_signed(&key).unwrap().pem());
    dir.write("key.pem", key.serialize_pem());
}

pub(crate) const SERVE: &str = "serve --listen 127.0.0.1:0 --tls-cert chain.pem --tls-key key.pem";

/// Connects as a client that trusts only the certificate in `chain.pem` and offers `protocols` with ALPN.
pub(crate) fn connect(dir: &TestDir, server: &Server, protocols: &[&[u8]]) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(dir.path("chain.pem")).unwrap()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots);
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let session = ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap());
    StreamOwned::new(session.unwrap(), TcpStream::connect(&server.address).unwrap())
}

#[test]
fn expiring_or_unacceptable_certificate_is_logged() {
    const EXPIRY: &str = "catalogue_tls_certificate_expiry_timestamp_seconds";

    let dir = TestDir::new();
    let (soon, later) = (OffsetDateTime::now_utc() + Duration::days(3), OffsetDateTime::now_utc() + Duration::days(90));
    issue_until(&dir, soon);
    let observed = Observed::start(&dir, "--tls-cert chain.pem --tls-key key.pem");
    observed.wait_for_log("the certificate in use expires soon; renew it");
    let exported = dashboard::exported_metrics(&observed);
    assert!(dashboard::queried_metrics().contains(EXPIRY) && exported.contains(EXPIRY), "{exported:?}");
    assert_eq!(observed.metrics()[EXPIRY], soon.unix_timestamp() as f64);

    issue_until(&dir, later);
    observed.server.signal("HUP");
    observed.wait_for_log("loaded a new certificate");
    assert_eq!(observed.metrics()[EXPIRY], later.unix_timestamp() as f64);

    let key = KeyPair::generate().unwrap();
    dir.write("chain.pem", CertificateParams::new([]).unwrap().self_signed(&key).unwrap().pem());
    dir.write("key.pem", key.serialize_pem());
    assert!(!observed.log().contains("names no host"));
    observed.server.signal("HUP");
    observed.wait_for_log("the certificate names no host in subjectAltName, so clients refuse it");
    let log = observed.stop_and_read_log();
    assert_eq!(log.matches("expires soon").count(), 1, "{log}");
}

#[test]
fn unusable_certificate_files_exit_1_and_missing_ones_2() {
    let dir = dir_with_certificate();
    dir.run("serve --tls-cert none.pem --tls-key key.pem").fails(1, &["--tls-cert", "cannot read none.pem: "]);
    dir.run("serve --tls-cert chain.pem --tls-key chain.pem").fails(1, &["no private key in chain.pem"]);
    dir.run("serve --tls-cert chain.pem").fails(2, &["--tls-cert", "needs its key", "--tls-key"]);
    dir.run_in(&[("CATALOGUE_TLS_KEY", "key.pem")], "serve").fails(2, &["CATALOGUE_TLS_KEY", "--tls-cert"]);
    assert!(!dir.files().contains(&"catalogue.db".to_owned()), "no database is created for invalid certificates");
}

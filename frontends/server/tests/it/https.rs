//! HTTPS of `catalogue serve`, and invalid options for certificates, proxies and limits.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;
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

fn issue_until(dir: &TestDir, not_after: OffsetDateTime) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    params.not_after = not_after;
    dir.write("chain.pem", params.self_signed(&key).unwrap().pem());
    dir.write("key.pem", key.serialize_pem());
}

pub(crate) const SERVE: &str = "serve --listen 127.0.0.1:0 --tls-cert chain.pem --tls-key key.pem";

/// Connects as a client that trusts only the certificate in `chain.pem` and offers `protocols` with ALPN.
pub(crate) fn connect(
    dir: &TestDir,
    server: &Server,
    protocols: &[&[u8]],
) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(dir.path("chain.pem")).unwrap()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots);
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let session = ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap());
    Ok(StreamOwned::new(session.unwrap(), TcpStream::connect(&server.address)?))
}

/// Returns the response to a client that trusts only the certificate in `chain.pem`.
fn get(dir: &TestDir, server: &Server) -> io::Result<String> {
    let mut stream = connect(dir, server, &[])?;
    stream.write_all(b"GET /docs/llms.txt HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    Ok(response)
}

#[test]
fn https_reloads_certificate_on_sighup() {
    let dir = dir_with_certificate();
    let mut server = Server::start(dir.command(SERVE).stderr(Stdio::piped()));
    let response = get(&dir, &server).unwrap();
    assert!(
        response.starts_with("HTTP/1.1 200 OK\r\n") && response.contains("strict-transport-security"),
        "{response}"
    );
    issue(&dir);
    assert!(get(&dir, &server).unwrap_err().to_string().contains("invalid peer certificate"));
    server.signal("HUP");
    server.notes_until("loaded a new certificate");
    assert!(get(&dir, &server).unwrap().starts_with("HTTP/1.1 200 OK\r\n"));
    assert_eq!(server.stop_with("TERM").0, Some(0));
}

#[test]
fn expiring_certificate_is_logged_and_exported_as_metric() {
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
    let log = observed.stop_and_read_log();
    assert_eq!(log.matches("expires soon").count(), 1, "{log}");
}

#[test]
fn unacceptable_certificate_is_logged() {
    let dir = dir_with_certificate();
    let observed = Observed::start(&dir, "--tls-cert chain.pem --tls-key key.pem");
    let key = KeyPair::generate().unwrap();
    dir.write("chain.pem", CertificateParams::new([]).unwrap().self_signed(&key).unwrap().pem());
    dir.write("key.pem", key.serialize_pem());
    assert!(!observed.log().contains("names no host"));
    observed.server.signal("HUP");
    observed.wait_for_log("the certificate names no host in subjectAltName, so clients refuse it");
}

#[test]
fn unusable_certificate_files_exit_1() {
    let dir = dir_with_certificate();
    dir.run("serve --tls-cert none.pem --tls-key key.pem").fails(1, &["--tls-cert", "cannot read none.pem: "]);
    dir.run("serve --tls-cert chain.pem --tls-key none.pem").fails(1, &["cannot read none.pem: "]);
    dir.run("serve --tls-cert key.pem --tls-key key.pem").fails(1, &["no certificate in key.pem"]);
    dir.run("serve --tls-cert chain.pem --tls-key chain.pem").fails(1, &["no private key in chain.pem"]);
    dir.write("other.pem", KeyPair::generate().unwrap().serialize_pem());
    dir.run("serve --tls-cert chain.pem --tls-key other.pem").fails(1, &["other.pem does not belong to"]);
    let device = "cannot read /dev/zero: it is a device";
    dir.run("serve --tls-cert /dev/zero --tls-key key.pem").fails(1, &[device]);
    dir.run("serve --tls-cert chain.pem --tls-key /dev/zero").fails(1, &[device]);
    assert!(!dir.files().contains(&"catalogue.db".to_owned()), "no database is created for invalid certificates");
}

#[test]
fn invalid_settings_exit_2() {
    let dir = dir_with_certificate();
    dir.run("serve --tls-cert chain.pem").fails(2, &["--tls-cert", "needs its key", "--tls-key"]);
    dir.run_in(&[("CATALOGUE_TLS_KEY", "key.pem")], "serve").fails(2, &["CATALOGUE_TLS_KEY", "--tls-cert"]);
    dir.run("serve --trusted-proxies 10.0.0.0/33").fails(2, &["--trusted-proxies", "use e.g. 10.0.0.0/8"]);
    dir.run("serve --max-connections 0").fails(2, &["--max-connections", "from 1 to"]);
    dir.run("serve --max-in-flight many").fails(2, &["--max-in-flight", "like 1000"]);
    dir.run("serve --request-timeout 0s").fails(2, &["--request-timeout", "use at least 1s"]);
    dir.write("c.toml", "max-connections = 0\n");
    dir.run("serve --config c.toml").fails(2, &["c.toml: line 1: max-connections"]);
}

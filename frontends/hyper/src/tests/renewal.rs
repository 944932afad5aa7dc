//! Certificates that are renewed, and unusable ones.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use der::asn1::AnyRef;
use der::{Decode as _, SliceReader};
use rcgen::{PKCS_ECDSA_P256_SHA256, PKCS_RSA_SHA256};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;

use super::ServerConfig;
use super::certificates::Authority;
use super::support::Server;
use crate::{Tls, reload_certificate};

const PROTOCOL: &[u8] = b"http/1.1";

/// Returns the certificate that a new client receives, which must be that of the file.
async fn served_certificate(authority: &Authority, server: &Server) -> CertificateDer<'static> {
    let client = authority.connect(server.address, PROTOCOL).await;
    client.get_ref().1.peer_certificates().unwrap()[0].clone()
}

#[tokio::test]
async fn renewed_certificate_is_used_for_next_handshake() {
    let authority = Authority::new();
    let tls = authority.tls();
    let server = Server::start_direct(ServerConfig { tls: Some(tls.clone()), ..ServerConfig::default() }).await;
    let mut open = authority.connect(server.address, PROTOCOL).await;
    // Reloads at short intervals, without a request.
    tokio::spawn(reload_certificate(tls, Duration::from_millis(1), async || std::future::pending::<()>().await));

    authority.issue(&PKCS_RSA_SHA256, -1, 1);
    let connector = authority.client(PROTOCOL, rustls::DEFAULT_VERSIONS);
    super::support::with_timeout(async {
        loop {
            let tcp = tokio::net::TcpStream::connect(server.address).await.unwrap();
            // This client trusts only the new certificate, so its handshake fails until the server uses it.
            if connector.connect("localhost".try_into().unwrap(), tcp).await.is_ok() {
                return;
            }
        }
    })
    .await;
    assert_eq!(served_certificate(&authority, &server).await, authority.issued());
    open.write_all(b"GET /gate HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    server.wait_for_request().await;
}

#[tokio::test]
async fn invalid_pair_leaves_old_certificate_in_use() {
    let authority = Authority::new();
    let before = authority.issued();
    let tls = authority.tls();
    let (trigger, mut triggered) = mpsc::channel::<()>(1);
    let renewing = tokio::spawn(reload_certificate(tls.clone(), Duration::from_secs(3_600), async move || {
        triggered.recv().await;
    }));
    let (old_certificate, old_key) = (fs::read(authority.certificate()).unwrap(), fs::read(authority.key()).unwrap());
    for damage in ["half", "expired", "missing", "cut"] {
        match damage {
            "half" => {
                authority.issue(&PKCS_ECDSA_P256_SHA256, -1, 1);
                fs::write(authority.certificate(), &old_certificate).unwrap();
            }
            "expired" => authority.issue(&PKCS_ECDSA_P256_SHA256, -2, -1),
            "missing" => fs::remove_file(authority.key()).unwrap(),
            _ => fs::write(authority.certificate(), &old_certificate[..old_certificate.len() / 2]).unwrap(),
        }
        // The second message is received after the reload for the first.
        trigger.send(()).await.unwrap();
        trigger.send(()).await.unwrap();
        trigger.reserve().await.unwrap();
        assert_eq!(tls.in_use(), before, "{damage}");
    }
    fs::write(authority.key(), old_key).unwrap();
    authority.issue(&PKCS_ECDSA_P256_SHA256, -1, 1);
    trigger.send(()).await.unwrap();
    trigger.send(()).await.unwrap();
    trigger.send(()).await.unwrap();
    assert_eq!(tls.in_use(), authority.issued());
    renewing.abort();
}

#[test]
fn combined_file_and_older_key_formats_are_read() {
    for (algorithm, label) in [(&PKCS_ECDSA_P256_SHA256, "EC PRIVATE KEY"), (&PKCS_RSA_SHA256, "RSA PRIVATE KEY")] {
        let authority = Authority::of(algorithm);
        let certificate = fs::read_to_string(authority.certificate()).unwrap();
        let key = fs::read_to_string(authority.key()).unwrap();
        let older = to_older_format(&key, label);
        fs::write(authority.key(), &older).unwrap();
        Tls::load(authority.files()).unwrap();
        fs::write(authority.certificate(), older + &certificate).unwrap();
        let mut files = authority.files();
        files.key = files.certificate.clone();
        Arc::new(Tls::load(files).unwrap());
    }
}

/// Returns the key inside PKCS#8 as SEC1 or PKCS#1: the octet string after the version and the algorithm.
fn to_older_format(pkcs8: &str, label: &str) -> String {
    let whole = PrivateKeyDer::from_pem_slice(pkcs8.as_bytes()).unwrap();
    let mut fields = SliceReader::new(AnyRef::from_der(whole.secret_der()).unwrap().value()).unwrap();
    let [_, _, key] = std::array::from_fn(|_| AnyRef::decode(&mut fields).unwrap());
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(key.value()))
}

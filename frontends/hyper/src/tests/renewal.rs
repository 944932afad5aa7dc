//! Certificates that are renewed, and unusable ones.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use rcgen::{PKCS_ECDSA_P256_SHA256, PKCS_RSA_SHA256};
use rustls::pki_types::CertificateDer;
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
async fn a_renewed_certificate_is_for_the_next_handshake() {
    let authority = Authority::new();
    let tls = authority.tls();
    let server = Server::with(ServerConfig { tls: Some(tls.clone()), ..ServerConfig::default() }).await;
    let mut open = authority.connect(server.address, PROTOCOL).await;
    // Reloads at short intervals, without a request.
    tokio::spawn(reload_certificate(tls, Duration::from_millis(1), async || std::future::pending::<()>().await));

    authority.issue(&PKCS_RSA_SHA256, -1, 1);
    let connector = authority.client(PROTOCOL, rustls::DEFAULT_VERSIONS);
    super::support::with_timeout(async {
        loop {
            let tcp = tokio::net::TcpStream::connect(server.address).await.unwrap();
            // This client trusts only the new certificate, so its handshake fails until the server uses that.
            if connector.connect("localhost".try_into().unwrap(), tcp).await.is_ok() {
                return;
            }
        }
    })
    .await;
    assert_eq!(served_certificate(&authority, &server).await, authority.issued());
    open.write_all(b"GET /gate HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    server.arrival().await;
}

#[tokio::test]
async fn a_pair_that_is_not_whole_leaves_the_old_one_in_use() {
    let authority = Authority::new();
    let before = authority.issued();
    let tls = authority.tls();
    let (ask, mut requested) = mpsc::channel::<()>(1);
    let renewing = tokio::spawn(reload_certificate(tls.clone(), Duration::from_secs(3_600), async move || {
        requested.recv().await;
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
        ask.send(()).await.unwrap();
        ask.send(()).await.unwrap();
        ask.reserve().await.unwrap();
        assert_eq!(tls.in_use(), before, "{damage}");
    }
    fs::write(authority.key(), old_key).unwrap();
    authority.issue(&PKCS_ECDSA_P256_SHA256, -1, 1);
    ask.send(()).await.unwrap();
    ask.send(()).await.unwrap();
    ask.send(()).await.unwrap();
    assert_eq!(tls.in_use(), authority.issued());
    renewing.abort();
}

/// Returns the error message for unusable files.
fn complaint(authority: &Authority) -> String {
    Tls::load(authority.files()).unwrap_err().to_string()
}

#[test]
fn what_is_wrong_with_a_pair_is_said_at_once() {
    let authority = Authority::new();
    let [certificate, key] = [authority.certificate(), authority.key()].map(|path| path.display().to_string());
    let (good_certificate, good_key) = (fs::read(&certificate).unwrap(), fs::read(&key).unwrap());
    let cases: [(&str, &[u8], &[u8]); 8] = [
        ("chain.pem has no certificate, only PRIVATE KEY; write the chain in PEM", &good_key, &good_key),
        ("chain.pem has no certificate, for it is empty", b"", &good_key),
        ("chain.pem is not PEM: a section has no end", &good_certificate[..good_certificate.len() / 2], &good_key),
        ("certificate 1 in ", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", &good_key),
        ("key.pem has no private key, only CERTIFICATE; write it in PEM", &good_certificate, &good_certificate),
        (
            "key.pem is encrypted",
            &good_certificate,
            b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
        ),
        (
            "key.pem is encrypted",
            &good_certificate,
            b"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----\n",
        ),
        (
            "key.pem is malformed, or of a kind or length that cannot be used; ",
            &good_certificate,
            b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        ),
    ];
    for (complaint_begins, certificate_bytes, key_bytes) in cases {
        fs::write(&certificate, certificate_bytes).unwrap();
        fs::write(&key, key_bytes).unwrap();
        let complaint = complaint(&authority);
        assert!(complaint.contains(complaint_begins), "{complaint_begins}: {complaint}");
    }

    authority.issue(&PKCS_ECDSA_P256_SHA256, -1, 1);
    fs::write(&key, &good_key).unwrap();
    assert!(complaint(&authority).contains("does not belong to the certificate"), "{}", complaint(&authority));
    authority.issue(&PKCS_ECDSA_P256_SHA256, -2, -1);
    assert!(complaint(&authority).contains("expired on 20"), "{}", complaint(&authority));
    authority.issue(&PKCS_ECDSA_P256_SHA256, 1, 2);
    assert!(complaint(&authority).contains("is not valid before 20"), "{}", complaint(&authority));
    fs::remove_file(&key).unwrap();
    assert!(complaint(&authority).contains("key.pem cannot be read: No such file"), "{}", complaint(&authority));
}

#[test]
fn one_file_may_hold_both_and_the_older_forms_of_keys_are_read() {
    for (algorithm, label) in [(&PKCS_ECDSA_P256_SHA256, "EC PRIVATE KEY"), (&PKCS_RSA_SHA256, "RSA PRIVATE KEY")] {
        let authority = Authority::new();
        authority.issue(algorithm, -1, 1);
        let certificate = fs::read_to_string(authority.certificate()).unwrap();
        let key = fs::read_to_string(authority.key()).unwrap();
        let older = older_form(&key, label);
        fs::write(authority.key(), &older).unwrap();
        Tls::load(authority.files()).unwrap();
        fs::write(authority.certificate(), older + &certificate).unwrap();
        let mut files = authority.files();
        files.key = files.certificate.clone();
        Arc::new(Tls::load(files).unwrap());
    }
}

/// Returns the key inside PKCS#8 as SEC1 or PKCS#1: the octet string after the version and the algorithm.
fn older_form(pkcs8: &str, label: &str) -> String {
    let whole = pem_bytes(pkcs8);
    let found = (0..whole.len()).find(|&place| {
        // An octet string with a long or a short length, which contains a sequence and ends with the key.
        match whole[place..] {
            [0x04, 0x82, high, low, 0x30, ..] => place + 4 + usize::from(high) * 256 + usize::from(low) == whole.len(),
            [0x04, 0x81, length, 0x30, ..] => place + 3 + usize::from(length) == whole.len(),
            [0x04, length @ ..=0x7f, 0x30, ..] => place + 2 + usize::from(length) == whole.len(),
            _ => false,
        }
    });
    let start = found.unwrap() + whole[found.unwrap()..].iter().position(|&byte| byte == 0x30).unwrap();
    let text = base64(&whole[start..]);
    format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
}

fn pem_bytes(pem: &str) -> Vec<u8> {
    use rustls::pki_types::PrivateKeyDer;
    use rustls::pki_types::pem::PemObject;
    PrivateKeyDer::from_pem_slice(pem.as_bytes()).unwrap().secret_der().to_vec()
}

/// Encodes base64 in lines.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let encode = |three: &[u8]| {
        let bits = (0..3).fold(0_u32, |bits, index| bits << 8 | u32::from(*three.get(index).unwrap_or(&0)));
        let digits = (0..4).map(|index| char::from(ALPHABET[(bits >> (18 - 6 * index)) as usize & 63]));
        let mut text: String = digits.take(three.len() + 1).collect();
        text.extend(std::iter::repeat_n('=', 3 - three.len()));
        text
    };
    let text: String = bytes.chunks(3).map(encode).collect();
    text.as_bytes().chunks(64).map(|line| str::from_utf8(line).unwrap()).collect::<Vec<_>>().join("\n")
}

//! Certificates for tests, clients that trust them, and a tunnel for clients without TLS.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256, SignatureAlgorithm};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use tempfile::TempDir;
use time::{Duration, OffsetDateTime};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::{CertificateFiles, Tls};

/// A directory with a certificate for `localhost` and its key.
pub(super) struct Authority {
    directory: TempDir,
}

impl Authority {
    /// Creates an ECDSA certificate that is valid now.
    pub(super) fn new() -> Self {
        Self::of(&PKCS_ECDSA_P256_SHA256)
    }

    /// Creates a certificate that is valid now.
    pub(super) fn of(algorithm: &'static SignatureAlgorithm) -> Self {
        let authority = Self { directory: tempfile::tempdir().unwrap() };
        authority.issue(algorithm, -1, 1);
        authority
    }

    /// Writes a new certificate, which is valid `from` to `to` days from now, and its key.
    pub(super) fn issue(&self, algorithm: &'static SignatureAlgorithm, from: i64, to: i64) {
        let key = KeyPair::generate_for(algorithm).unwrap();
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        let now = OffsetDateTime::now_utc();
        (params.not_before, params.not_after) = (now + Duration::days(from), now + Duration::days(to));
        fs::write(self.certificate(), params.self_signed(&key).unwrap().pem()).unwrap();
        fs::write(self.key(), key.serialize_pem()).unwrap();
    }

    pub(super) fn certificate(&self) -> PathBuf {
        self.directory.path().join("chain.pem")
    }

    pub(super) fn key(&self) -> PathBuf {
        self.directory.path().join("key.pem")
    }

    pub(super) fn files(&self) -> CertificateFiles {
        CertificateFiles { certificate: self.certificate(), key: self.key() }
    }

    pub(super) fn tls(&self) -> Arc<Tls> {
        Arc::new(Tls::load(self.files()).unwrap())
    }

    /// Returns the certificate in the file.
    pub(super) fn issued(&self) -> CertificateDer<'static> {
        CertificateDer::from_pem_file(self.certificate()).unwrap()
    }

    /// Returns a client that trusts this certificate, and speaks `protocol` and these TLS `versions`.
    pub(super) fn client(&self, protocol: &[u8], versions: &[&'static SupportedProtocolVersion]) -> TlsConnector {
        let mut roots = RootCertStore::empty();
        roots.add(self.issued()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
        let builder = builder.with_protocol_versions(versions).unwrap();
        let mut config = builder.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![protocol.to_vec()];
        Arc::new(config).into()
    }

    /// Connects a client that trusts this certificate and speaks `protocol`.
    pub(super) async fn connect(&self, server: SocketAddr, protocol: &[u8]) -> TlsStream<TcpStream> {
        let tcp = TcpStream::connect(server).await.unwrap();
        tcp.set_nodelay(true).unwrap();
        let client = self.client(protocol, rustls::DEFAULT_VERSIONS);
        client.connect("localhost".try_into().unwrap(), tcp).await.unwrap()
    }

    /// Returns the address of a tunnel that accepts cleartext and connects to `server` over TLS, until the runtime ends.
    pub(super) async fn tunnel(self, server: SocketAddr, protocol: &'static [u8]) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let client = self.client(protocol, rustls::DEFAULT_VERSIONS);
            loop {
                let (mut inner, _) = listener.accept().await.unwrap();
                let client = client.clone();
                tokio::spawn(async move {
                    let outer = TcpStream::connect(server).await?;
                    outer.set_nodelay(true)?;
                    inner.set_nodelay(true)?;
                    let mut outer = client.connect("localhost".try_into().unwrap(), outer).await?;
                    copy_bidirectional(&mut inner, &mut outer).await
                });
            }
        });
        address
    }
}

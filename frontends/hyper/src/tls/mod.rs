//! HTTPS: a certificate from files, TLS 1.2 and 1.3, and certificates that are renewed while the server runs.

mod certificate;
mod file;
mod lint;
mod reload;
mod x509;

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::server::{ClientHello, NoServerSessionStorage, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

pub use certificate::{CertificateFileError, CertificateFiles};
pub use file::read_short_file;
pub use lint::CertificateProblem;
pub use reload::reload_certificate;
pub use x509::Validity;

use certificate::ServerCertificate;

/// ALPN name of HTTP/2 (RFC 7301).
pub(crate) const HTTP_2: &[u8] = b"h2";

/// Certificate and TLS configuration of a server.
#[derive(Debug)]
pub struct Tls {
    files: CertificateFiles,
    config: Arc<ServerConfig>,
    current: Arc<CurrentCertificate>,
}

/// The certificate for the next handshake.
#[derive(Debug)]
struct CurrentCertificate(watch::Sender<ServerCertificate>);

impl Tls {
    /// Reads and checks a certificate and its key.
    ///
    /// # Errors
    ///
    /// Returns an error if they cannot be used; the message says what would be valid.
    pub fn load(files: CertificateFiles) -> Result<Self, CertificateFileError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let current = Arc::new(CurrentCertificate(watch::Sender::new(files.load(&provider, &[])?)));
        let config = Arc::new(config(provider, current.clone()));
        Ok(Self { files, config, current })
    }

    /// Returns when the certificate in use expires, as text.
    pub fn expires(&self) -> String {
        certificate::date_text(self.validity().not_after)
    }

    /// Returns when the certificate in use is valid.
    pub fn validity(&self) -> Validity {
        self.current.0.borrow().validity
    }

    /// Returns why clients may refuse the certificate in use; empty if no reason is known.
    pub fn problems(&self) -> Vec<CertificateProblem> {
        self.current.0.borrow().problems.clone()
    }

    /// Returns whether the certificate in use is for `host`. `None` if `host` is malformed or the certificate names no host.
    pub fn is_valid_for(&self, host: &str) -> Option<bool> {
        lint::is_valid_for(&self.current.0.borrow().certified_key.cert[0], host)
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        self.config.clone().into()
    }

    /// Loads the certificate from the files, if it is usable. Returns whether it is a new one.
    fn reload(&self) -> Result<bool, CertificateFileError> {
        let in_use = self.current.0.borrow().certified_key.clone();
        let found = self.files.load(self.config.crypto_provider(), &in_use.cert)?;
        let is_new = found.certified_key.cert != in_use.cert;
        if is_new {
            self.current.0.send_replace(found);
        }
        Ok(is_new)
    }
}

/// Configures TLS 1.2 and 1.3 with the provider's cipher suites, all of them AEAD with forward secrecy.
fn config(provider: Arc<CryptoProvider>, current: Arc<CurrentCertificate>) -> ServerConfig {
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.expect("the provider has suites for both versions").with_no_client_auth();
    let mut config = builder.with_cert_resolver(current);
    // In the order of the server's preference.
    config.alpn_protocols = vec![HTTP_2.to_vec(), b"http/1.1".to_vec()];
    // Clients store the encrypted state of their sessions in tickets, so that it uses no memory here.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    match aws_lc_rs::Ticketer::new() {
        Ok(ticketer) => config.ticketer = ticketer,
        Err(error) => tracing::warn!(%error, "cannot create session tickets; TLS sessions are not resumed"),
    }
    config
}

impl ResolvesServerCert for CurrentCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.borrow().certified_key.clone())
    }
}

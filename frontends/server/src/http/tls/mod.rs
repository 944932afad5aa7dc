//! HTTPS: a certificate from files, TLS 1.2 and 1.3, and certificates that are renewed while the server runs.

mod expiry;
mod file;
mod flaw;
mod pair;
mod renewal;
mod stream;
mod validity;

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard},
};

use rustls::{
    ServerConfig,
    crypto::{CryptoProvider, aws_lc_rs},
    server::{ClientHello, NoServerSessionStorage, ResolvesServerCert},
    sign::CertifiedKey,
};
use time::OffsetDateTime;
use tokio_rustls::TlsAcceptor;

pub(crate) use pair::{PairError, PairFiles};
pub(crate) use renewal::keep_renewed;
pub(super) use stream::Secured;

use flaw::Flaw;
use pair::Pair;
use validity::Validity;

/// The names of the protocols for ALPN (RFC 7301), what the server likes best first.
const HTTP_2: &[u8] = b"h2";
const HTTP_1: &[u8] = b"http/1.1";

/// What a server needs for HTTPS.
pub(crate) struct Tls {
    files: PairFiles,
    provider: Arc<CryptoProvider>,
    config: Arc<ServerConfig>,
    current: Arc<Current>,
    /// Of the files as they were last read, usable or not.
    seen: Mutex<u64>,
}

/// The certificate for the next handshake.
#[derive(Debug)]
struct Current(RwLock<Pair>);

impl Tls {
    /// Reads and checks a certificate and its key.
    pub(crate) fn load(files: PairFiles) -> Result<Self, PairError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let bytes = files.read()?;
        let pair = files.check(&bytes, &provider, OffsetDateTime::now_utc())?;
        let current = Arc::new(Current(RwLock::new(pair)));
        Ok(Self {
            config: Arc::new(config(provider.clone(), current.clone())),
            seen: Mutex::new(bytes.fingerprint()),
            files,
            provider,
            current,
        })
    }

    /// When the certificate in use expires.
    pub(crate) fn expires(&self) -> String {
        pair::shown(self.validity().not_after)
    }

    /// When it is valid.
    pub(crate) fn validity(&self) -> Validity {
        self.current.read().validity
    }

    /// What clients refuse about it.
    pub(crate) fn flaws(&self) -> Vec<Flaw> {
        self.current.read().flaws.clone()
    }

    /// Whether it is for that host, a name or an address; `None` where that cannot be told.
    pub(crate) fn names(&self, host: &str) -> Option<bool> {
        flaw::names(&self.current.read().certified.cert[0], host)
    }

    /// The certificate for the next handshake.
    #[cfg(test)]
    pub(super) fn in_use(&self) -> rustls::pki_types::CertificateDer<'static> {
        self.current.read().certified.cert[0].clone()
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        self.config.clone().into()
    }

    /// Takes what stands in the files, if that is another pair than the last time and can be used; else the one that
    /// is in use stays. Says whether there is a new one.
    fn renew(&self) -> Result<bool, PairError> {
        let bytes = self.files.read()?;
        let fingerprint = bytes.fingerprint();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut *seen, fingerprint) == fingerprint {
            return Ok(false);
        }
        let pair = self.files.check(&bytes, &self.provider, OffsetDateTime::now_utc())?;
        *self.current.0.write().unwrap_or_else(PoisonError::into_inner) = pair;
        Ok(true)
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Current {
    fn read(&self) -> RwLockReadGuard<'_, Pair> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.read().certified.clone())
    }
}

/// TLS 1.2 and 1.3 with the provider's cipher suites, all of them AEAD with forward secrecy.
fn config(provider: Arc<CryptoProvider>, current: Arc<Current>) -> ServerConfig {
    let builder = ServerConfig::builder_with_provider(provider);
    let builder = builder.with_safe_default_protocol_versions().expect("the provider has suites for both versions");
    let mut config = builder.with_no_client_auth().with_cert_resolver(current);
    config.alpn_protocols = vec![HTTP_2.to_vec(), HTTP_1.to_vec()];
    // What a session needs to be resumed is with its client, sealed, so that it costs no memory here.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    match aws_lc_rs::Ticketer::new() {
        Ok(ticketer) => config.ticketer = ticketer,
        Err(error) => tracing::warn!(%error, "TLS sessions are not resumed"),
    }
    config
}

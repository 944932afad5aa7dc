//! [`client`]: the HTTP client for requests to an issuer or another server.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::crypto::aws_lc_rs;
use rustls::{ClientConfig, RootCertStore};
use thiserror::Error;

/// HTTP client that opens a connection for each request, and follows no redirect.
pub type HttpClient = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// Error: the system has no CA certificate that could authenticate a server, or none can be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "cannot read the system's CA certificates, which authenticate {server}: {reason}; install them, or set SSL_CERT_FILE \
     to a file that has them"
)]
pub struct NoCertificates {
    server: String,
    reason: String,
}

/// Creates a client of an issuer or another server. Errors name it `server`, such as "the collector of spans". If `secured`
/// is set, the system's CA certificates authenticate it.
///
/// # Errors
/// Returns an error if `secured` is set and no CA certificate of the system can be read.
pub fn client(secured: bool, server: &str) -> Result<HttpClient, NoCertificates> {
    let tls = tls(if secured { system_roots(server)? } else { RootCertStore::empty() });
    let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().build();
    // No pooling: the server may close an idle connection just when it is reused, which would look like an outage.
    Ok(Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build(connector))
}

/// Creates a client of an issuer.
pub(crate) fn issuer_client(secured: bool) -> Result<HttpClient, NoCertificates> {
    client(secured, "the issuer of tokens")
}

fn tls(roots: RootCertStore) -> ClientConfig {
    ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider has the cipher suites of both versions")
        .with_root_certificates(roots)
        .with_no_client_auth()
}

/// Returns the CA certificates that the system trusts.
fn system_roots(server: &str) -> Result<RootCertStore, NoCertificates> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let reason = found.errors.first().map_or_else(
            || "found no certificate in PEM (a byte order mark hides the first)".to_owned(),
            ToString::to_string,
        );
        return Err(NoCertificates { server: server.to_owned(), reason });
    }
    Ok(roots)
}

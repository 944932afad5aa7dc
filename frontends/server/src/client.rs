//! The HTTP client of what this server asks by itself, and the addresses that it asks.

use std::sync::Arc;

use bytes::Bytes;
use http::Uri;
use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};

use crate::exit::Failure;

/// A client that makes a connection for each request, and follows no redirect.
pub(crate) type HttpClient = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// A client of `server`, which is proved by the issuers that the system trusts where it is `secured`.
///
/// # Errors
/// Where it is, and no certificate of the system can be read.
pub(crate) fn client(secured: bool, server: &str) -> Result<HttpClient, Failure> {
    let roots = if secured { system_roots(server)? } else { RootCertStore::empty() };
    let tls = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider has the cipher suites of both versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().build();
    // A connection that is kept may be closed while it is used again, which would look as if the server were away.
    Ok(Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build(connector))
}

/// The issuers that the system trusts.
fn system_roots(server: &str) -> Result<RootCertStore, Failure> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let reason = found.errors.first().map_or_else(|| "there is none".to_owned(), ToString::to_string);
        return Err(Failure::work(format!(
            "no certificate of the system can be read, which {server} is checked by: {reason}; install the certificates, \
             or name a file of them by SSL_CERT_FILE"
        )));
    }
    Ok(roots)
}

/// Reads the address of a `server`; `right` says how one is written. No message repeats it: it could hold a password.
pub(crate) fn address(text: &str, server: &str, right: &str) -> Result<Uri, String> {
    let wrong = |what: &str| format!("the address of the {server} {what}; {right}");
    let uri: Uri = text.parse().map_err(|_| wrong("cannot be read"))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(wrong("is not one of HTTP or HTTPS"));
    }
    let authority = uri.authority().filter(|authority| !authority.host().is_empty());
    let authority = authority.ok_or_else(|| wrong("has no host"))?;
    if authority.as_str().contains('@') || uri.query().is_some() || text.contains('#') {
        return Err(wrong("may have neither a user nor a query"));
    }
    // One that does not fit counts as none.
    if authority.as_str() != authority.host() && authority.port_u16().is_none() {
        return Err(wrong("has no port that can be"));
    }
    let host = authority.host().trim_matches(['[', ']']);
    if uri.scheme_str() == Some("https") && ServerName::try_from(host).is_err() {
        return Err(wrong("has a name that no certificate can be for"));
    }
    Ok(uri)
}

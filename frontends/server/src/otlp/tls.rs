//! [`connector`]: TLS to a collector, which must prove its name.

use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

use crate::exit::Failure;

/// Trusts the issuers that the system trusts.
pub(super) fn connector() -> Result<TlsConnector, Failure> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let reason = found.errors.first().map_or_else(|| "there is none".to_owned(), ToString::to_string);
        return Err(Failure::work(format!(
            "no certificate of the system can be read, which the collector of spans is checked by: {reason}; install \
             the certificates, or name a file of them by SSL_CERT_FILE"
        )));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider has the cipher suites of both versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config).into())
}

//! [`connector`]: TLS by rustls, with verification of the server's certificate and name.

use std::error::Error;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use std::sync::Arc;

use catalogue_core::Utf8Reader;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, InvalidDnsNameError, PrivateKeyDer};
use rustls::{CertificateError, ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::open_error::OpenError;

/// Creates a connector that trusts the certificates in the file `roots`, or the system's, and presents `certificate` if given.
pub(crate) fn connector(
    roots: Option<&str>,
    certificate: Option<&str>,
    key: Option<&str>,
) -> Result<MakeRustlsConnect, OpenError> {
    let mut trusted = RootCertStore::empty();
    match roots {
        None | Some("system") => add_system(&mut trusted)?,
        Some(file) => certificates(file)?
            .into_iter()
            .try_for_each(|certificate| trusted.add(certificate))
            .map_err(|error| certificate_error(file, error))?,
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider supports the default TLS versions")
        .with_root_certificates(trusted);
    let mut config = match (certificate, key) {
        (None, None) => builder.with_no_client_auth(),
        (Some(certificate), Some(key)) => {
            let chain = certificates(certificate)?;
            let secret =
                open(key).and_then(PrivateKeyDer::from_pem_reader).map_err(|error| certificate_error(key, error))?;
            builder.with_client_auth_cert(chain, secret).map_err(|error| certificate_error(certificate, error))?
        }
        _ => return Err(OpenError::SslMode),
    };
    // For `sslnegotiation=direct`, where the server selects the protocol by ALPN.
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok(MakeRustlsConnect::new(config))
}

fn add_system(roots: &mut RootCertStore) -> Result<(), OpenError> {
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let none = "no certificate in PEM (a byte order mark hides the first)".to_owned();
        let reason = found.errors.first().map_or(none, ToString::to_string);
        return Err(certificate_error("the system's certificates", reason));
    }
    Ok(())
}

fn certificates(file: &str) -> Result<Vec<CertificateDer<'static>>, OpenError> {
    let found = open(file).and_then(|text| CertificateDer::pem_reader_iter(text).collect::<Result<Vec<_>, _>>());
    match found {
        Ok(found) if found.is_empty() => Err(certificate_error(file, "no certificate in PEM")),
        Ok(found) => Ok(found),
        Err(error) => Err(certificate_error(file, error)),
    }
}

fn open(file: &str) -> Result<Utf8Reader<BufReader<File>>, pem::Error> {
    File::open(file).map(|file| Utf8Reader::new(BufReader::new(file))).map_err(pem::Error::Io)
}

fn certificate_error(file: impl AsRef<Path>, reason: impl Display) -> OpenError {
    OpenError::Certificate { file: file.as_ref().to_owned(), reason: reason.to_string() }
}

/// Translates an error of rustls into a message that an operator can act on.
pub(crate) fn problem(source: &(dyn Error + 'static)) -> Option<&'static str> {
    let error = source.downcast_ref::<io::Error>()?.get_ref()?;
    if error.is::<InvalidDnsNameError>() {
        return Some("invalid host name for TLS; set host to the name in the database's certificate");
    }
    Some(match error.downcast_ref::<rustls::Error>()? {
        // The signature is invalid if a trusted certificate has the issuer's name but another key.
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature) => {
            "the issuer of the database's certificate is not trusted; set sslrootcert to the issuer's certificate"
        }
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => "the database's certificate is for another host name",
        rustls::Error::InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. }) => {
            "the database's certificate has expired"
        }
        rustls::Error::InvalidCertificate(_) => "the database's certificate is invalid",
        rustls::Error::AlertReceived(_) => {
            "the database rejected the TLS connection; it may require another client certificate (sslcert, sslkey)"
        }
        _ => "TLS with the database failed",
    })
}

//! [`ServerCertificate`]: a certificate and its key, loaded from files and checked.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::Error as TlsError;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SigningKey};
use time::OffsetDateTime;

use super::file::read_short_file;
use super::lint::{self, CertificateProblem};
use super::x509::{self, Validity};

/// Files of a certificate and its key, which may be the same file.
#[derive(Clone, Debug)]
pub struct CertificateFiles {
    /// The chain in PEM, the server's own certificate first.
    pub certificate: PathBuf,
    /// The key in PEM: PKCS#8, PKCS#1 or SEC1.
    pub key: PathBuf,
}

/// Reason why a certificate and its key cannot be used. The message says what would be valid.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CertificateFileError(String);

type Chain = Vec<CertificateDer<'static>>;

/// A certificate that is usable now.
#[derive(Debug)]
pub(super) struct ServerCertificate {
    pub(super) certified_key: Arc<CertifiedKey>,
    pub(super) validity: Validity,
    pub(super) problems: Vec<CertificateProblem>,
}

impl CertificateFiles {
    /// Loads both files. Reports the first problem: of reading, of the certificate, of the key or of the pair. The chain
    /// `in_use` is accepted even if it has expired since.
    pub(super) fn load(
        &self,
        provider: &CryptoProvider,
        in_use: &[CertificateDer<'_>],
    ) -> Result<ServerCertificate, CertificateFileError> {
        let read =
            |path: &Path| read_short_file(path).map_err(|error| format!("cannot read {}: {error}", path.display()));
        let load = || {
            let [certificate, key] = [read(&self.certificate)?, read(&self.key)?];
            let (chain, validity) = self.chain(&certificate, in_use)?;
            Ok((self.certified_key(chain, self.private_key(&key, provider)?)?, validity))
        };
        let (certified_key, validity) = load().map_err(CertificateFileError)?;
        let problems = lint::problems(&certified_key.cert, provider);
        Ok(ServerCertificate { certified_key: Arc::new(certified_key), validity, problems })
    }

    /// Returns the certificates and the validity of the first, which must be valid now unless the chain is `in_use`.
    fn chain(&self, pem: &[u8], in_use: &[CertificateDer<'_>]) -> Result<(Chain, Validity), String> {
        let path = self.certificate.display();
        refuse_binary(&self.certificate, pem, "`openssl x509 -inform der` or `openssl pkcs12 -nokeys`")?;
        let chain = CertificateDer::pem_slice_iter(pem).collect::<Result<Chain, _>>();
        let chain = chain.map_err(|error| not_pem(&self.certificate, &error))?;
        let read = |(number, certificate): (usize, &CertificateDer<'_>)| {
            x509::version_and_validity(certificate).map_err(|_| self.malformed(number + 1))
        };
        let read = chain.iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
        let Some(&(version, validity)) = read.first() else {
            let found = describe_found_pem(pem);
            let hint = "use the chain in PEM, the server's own certificate first";
            return Err(format!("no certificate in {path}{found}; {hint}"));
        };
        let now = OffsetDateTime::now_utc();
        if chain == in_use {
            return Ok((chain, validity));
        }
        Err(if version < 3 {
            format!(
                "the certificate in {path} has X.509 version {version}, which clients refuse; use version 3 with the \
                 server's name in subjectAltName"
            )
        } else if now > validity.not_after {
            format!("the certificate in {path} expired on {}; renew it", date_text(validity.not_after))
        } else if now < validity.not_before {
            let from = date_text(validity.not_before);
            format!("the certificate in {path} is not valid before {from}; wait until then, or set the system clock")
        } else {
            return Ok((chain, validity));
        })
    }

    fn malformed(&self, number: usize) -> String {
        let path = self.certificate.display();
        format!("certificate {number} in {path} is malformed; get the chain from its issuer again")
    }

    fn private_key(&self, pem: &[u8], provider: &CryptoProvider) -> Result<Arc<dyn SigningKey>, String> {
        let path = self.key.display();
        refuse_binary(&self.key, pem, "`openssl pkey -inform der` or `openssl pkcs12 -nocerts -nodes`")?;
        // As PKCS#8, or in the older form of RFC 1421.
        if has_line(pem, "-----BEGIN ENCRYPTED PRIVATE KEY-----") || has_line(pem, "Proc-Type: 4,ENCRYPTED") {
            return Err(format!("the key in {path} is encrypted; remove the passphrase with `openssl pkey`"));
        }
        let key = PrivateKeyDer::from_pem_slice(pem).map_err(|error| match error {
            pem::Error::NoItemsFound => {
                let found = describe_found_pem(pem);
                format!("no private key in {path}{found}; use PEM with PKCS#8, PKCS#1 or SEC1")
            }
            error => not_pem(&self.key, &error),
        })?;
        provider.key_provider.load_private_key(key).map_err(|_| {
            format!(
                "the key in {path} is malformed or not supported; use ECDSA (P-256, P-384, P-521), Ed25519, or RSA with at \
                 least 2048 bits"
            )
        })
    }

    /// Combines the key with the chain, which must begin with the key's certificate.
    fn certified_key(&self, chain: Chain, key: Arc<dyn SigningKey>) -> Result<CertifiedKey, String> {
        let (certificate, key_path) = (self.certificate.display(), self.key.display());
        let matches = |chain: &[_]| CertifiedKey::new(chain.to_vec(), key.clone()).keys_match();
        match (matches(&chain), chain.chunks(1).position(|leaf| matches(leaf).is_ok())) {
            (Ok(()), _) => Ok(CertifiedKey::new(chain, key)),
            (Err(TlsError::InconsistentKeys(_)), Some(index)) => Err(format!(
                "the key in {key_path} belongs to certificate {} in {certificate}; put that one first, followed by its \
                 issuers",
                index + 1
            )),
            (Err(TlsError::InconsistentKeys(_)), None) => Err(format!(
                "the key in {key_path} does not belong to the certificate in {certificate}; use the key of this certificate, \
                 and put the server's own certificate first"
            )),
            (Err(_), _) => Err(self.malformed(1)),
        }
    }
}

/// Refuses a binary file that begins like DER, with a sequence.
fn refuse_binary(path: &Path, bytes: &[u8], tools: &str) -> Result<(), String> {
    if bytes.first() != Some(&0x30) || str::from_utf8(bytes).is_ok() {
        return Ok(());
    }
    let path = path.display();
    Err(format!("{path} is binary (DER or PKCS#12), not PEM; convert it with {tools}"))
}

/// Returns what is wrong with the PEM sections of a file, without repeating its content.
fn not_pem(path: &Path, error: &pem::Error) -> String {
    let what = match error {
        pem::Error::MissingSectionEnd { .. } => "a section has no end line",
        pem::Error::IllegalSectionStart { .. } => "the first line of a section is truncated",
        pem::Error::Base64Decode(_) => "a section is not base64",
        _ => "it has no readable base64 sections",
    };
    format!("{} is not PEM: {what}; copy the whole file again", path.display())
}

/// Returns what a file contains instead. Repeats only labels from a list: another one could be part of a secret.
fn describe_found_pem(pem: &[u8]) -> String {
    if pem.trim_ascii().is_empty() {
        return ", which is empty".to_owned();
    }
    ["CERTIFICATE", "PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY", "PUBLIC KEY", "CERTIFICATE REQUEST"]
        .iter()
        .find(|label| has_line(pem, &format!("-----BEGIN {label}-----")))
        .map_or_else(String::new, |label| format!(", only {label}"))
}

fn has_line(pem: &[u8], beginning: &str) -> bool {
    pem.split(|&byte| byte == b'\n').any(|line| line.starts_with(beginning.as_bytes()))
}

pub(super) fn date_text(date: OffsetDateTime) -> String {
    format!("{} {:02}:{:02} UTC", date.date(), date.hour(), date.minute())
}

#[cfg(test)]
mod tests;

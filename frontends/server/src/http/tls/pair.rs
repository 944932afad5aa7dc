//! A certificate and its key, read from files and checked.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls::{
    Error as TlsError,
    crypto::CryptoProvider,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject},
    },
    sign::{CertifiedKey, SigningKey},
};
use time::OffsetDateTime;

use super::{file, flaw::Flaw, validity::Validity};

/// Where a certificate and its key stand. It may be one file.
#[derive(Clone, Debug)]
pub(crate) struct PairFiles {
    /// The chain in PEM, the server's own certificate first.
    pub(crate) certificate: PathBuf,
    /// The key in PEM: PKCS#8, PKCS#1 or SEC1.
    pub(crate) key: PathBuf,
}

/// Why a pair cannot be used. Each message says by itself what would be right, so that a cause adds nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PairError {
    #[error("{path} cannot be read")]
    Unreadable { path: String, source: io::Error },
    #[error("{path} is not PEM: {what}; copy it again, whole, from where it was made")]
    NotPem { path: String, what: &'static str },
    #[error("{path} is binary, as DER and PKCS#12 are, and not PEM; {tools} write it in PEM")]
    Binary { path: String, tools: &'static str },
    #[error("{path} has no certificate{instead}; write the chain in PEM, the server's own certificate first")]
    NoCertificate { path: String, instead: String },
    #[error("certificate {number} in {path} is malformed; take the chain from its issuer again")]
    Malformed { path: String, number: usize },
    #[error(
        "the certificate in {path} is of version {version} of X.509, which clients refuse; have one made of version 3, with \
         the server's name in subjectAltName"
    )]
    OldVersion { path: String, version: u8 },
    #[error("the certificate in {path} expired on {on}; renew it")]
    Expired { path: String, on: String },
    #[error("the certificate in {path} is not valid before {from}; wait until then, or set this machine's clock")]
    NotYetValid { path: String, from: String },
    #[error("{path} has no private key{instead}; write it in PEM, as PKCS#8, PKCS#1 or SEC1")]
    NoKey { path: String, instead: String },
    #[error("the key in {0} is encrypted, and nobody is here to type the passphrase; `openssl pkey` takes it off")]
    EncryptedKey(String),
    #[error(
        "the key in {0} is malformed, or of a kind or length that cannot be used; ECDSA (P-256, P-384, P-521), Ed25519, and \
         RSA from 2048 bits on can"
    )]
    BadKey(String),
    #[error(
        "the key in {key} belongs to certificate {number} in {certificate}; write that one first, and its issuers after it"
    )]
    WrongOrder { certificate: String, key: String, number: usize },
    #[error(
        "the key in {key} does not belong to the certificate in {certificate}; name the two that were made together, the \
         server's own certificate first in its file"
    )]
    Mismatch { certificate: String, key: String },
}

/// The bytes of both files.
pub(super) struct PairBytes {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

/// A pair that can be used now.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) certified: Arc<CertifiedKey>,
    pub(super) validity: Validity,
    pub(super) flaws: Vec<Flaw>,
}

impl PairFiles {
    /// Reads both files.
    pub(super) fn read(&self) -> Result<PairBytes, PairError> {
        let read = |path: &Path| {
            file::read(path).map_err(|source| PairError::Unreadable { path: path.display().to_string(), source })
        };
        Ok(PairBytes { certificate: read(&self.certificate)?, key: read(&self.key)? })
    }

    /// Makes a pair of what was read: first what is wrong with the certificate by itself, then with the key, then with both.
    /// `now` must be within the certificate's dates.
    pub(super) fn check(
        &self,
        bytes: &PairBytes,
        provider: &CryptoProvider,
        now: OffsetDateTime,
    ) -> Result<Pair, PairError> {
        let (chain, own) = self.chain(&bytes.certificate)?;
        self.check_own(own, now)?;
        let key = provider.key_provider.load_private_key(self.private_key(&bytes.key)?);
        let key = key.map_err(|_| PairError::BadKey(self.key.display().to_string()))?;
        let certified = Arc::new(self.joined(chain, key)?);
        let flaws = Flaw::all_of(&certified.cert, own, provider);
        Ok(Pair { certified, validity: own, flaws })
    }

    /// The certificates, and what the first of them says.
    fn chain(&self, bytes: &[u8]) -> Result<(Vec<CertificateDer<'static>>, Validity), PairError> {
        let path = || self.certificate.display().to_string();
        if is_binary(bytes) {
            return Err(PairError::Binary {
                path: path(),
                tools: "`openssl x509 -inform der` and `openssl pkcs12 -nokeys`",
            });
        }
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(bytes).collect();
        let chain = chain.map_err(|error| PairError::NotPem { path: path(), what: flaw(&error) })?;
        let read: Vec<_> = chain.iter().map(|certificate| Validity::of(certificate)).collect();
        if let Some(at) = read.iter().position(Option::is_none) {
            return Err(PairError::Malformed { path: path(), number: at + 1 });
        }
        match read.first() {
            Some(Some(own)) => Ok((chain, *own)),
            _ => Err(PairError::NoCertificate { path: path(), instead: instead(bytes) }),
        }
    }

    /// Whether clients can take the server's own certificate now.
    fn check_own(&self, own: Validity, now: OffsetDateTime) -> Result<(), PairError> {
        let path = self.certificate.display().to_string();
        if own.version < 3 {
            return Err(PairError::OldVersion { path, version: own.version });
        }
        if now > own.not_after {
            return Err(PairError::Expired { path, on: shown(own.not_after) });
        }
        if now < own.not_before {
            return Err(PairError::NotYetValid { path, from: shown(own.not_before) });
        }
        Ok(())
    }

    fn private_key(&self, bytes: &[u8]) -> Result<PrivateKeyDer<'static>, PairError> {
        let path = || self.key.display().to_string();
        if is_binary(bytes) {
            let tools = "`openssl pkey -inform der` and `openssl pkcs12 -nocerts -nodes`";
            return Err(PairError::Binary { path: path(), tools });
        }
        if is_encrypted(bytes) {
            return Err(PairError::EncryptedKey(path()));
        }
        PrivateKeyDer::from_pem_slice(bytes).map_err(|error| match error {
            pem::Error::NoItemsFound => PairError::NoKey { path: path(), instead: instead(bytes) },
            error => PairError::NotPem { path: path(), what: flaw(&error) },
        })
    }

    /// The key with the chain whose first certificate is its own.
    fn joined(&self, chain: Vec<CertificateDer<'static>>, key: Arc<dyn SigningKey>) -> Result<CertifiedKey, PairError> {
        let (certificate, key_path) = (self.certificate.display().to_string(), self.key.display().to_string());
        let belongs = |own: &CertificateDer<'static>| CertifiedKey::new(vec![own.clone()], key.clone()).keys_match();
        let own = chain.iter().map(belongs).collect::<Vec<_>>();
        match own.first() {
            Some(Ok(())) => Ok(CertifiedKey::new(chain, key)),
            Some(Err(TlsError::InconsistentKeys(_))) => Err(match own.iter().position(Result::is_ok) {
                Some(at) => PairError::WrongOrder { certificate, key: key_path, number: at + 1 },
                None => PairError::Mismatch { certificate, key: key_path },
            }),
            _ => Err(PairError::Malformed { path: certificate, number: 1 }),
        }
    }
}

impl PairBytes {
    /// Tells whether the files have changed since, without keeping the key a second time.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.certificate.hash(&mut hasher);
        self.key.hash(&mut hasher);
        hasher.finish()
    }
}

/// Whether bytes begin as DER does, with a sequence, and are no text.
fn is_binary(bytes: &[u8]) -> bool {
    bytes.first() == Some(&0x30) && str::from_utf8(bytes).is_err()
}

/// What is wrong with a text that has sections of PEM, without repeating any of it.
fn flaw(error: &pem::Error) -> &'static str {
    match error {
        pem::Error::MissingSectionEnd { .. } => "a section has no end",
        pem::Error::IllegalSectionStart { .. } => "the line that begins a section is cut off",
        pem::Error::Base64Decode(_) => "a section is not base64",
        _ => "it cannot be read as sections of base64",
    }
}

/// What is there instead of what was looked for.
fn instead(bytes: &[u8]) -> String {
    if bytes.trim_ascii().is_empty() {
        return ", for it is empty".to_owned();
    }
    // What is no label of a section's is not repeated: it may be secret.
    let known =
        ["CERTIFICATE", "PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY", "PUBLIC KEY", "CERTIFICATE REQUEST"];
    let begins = |label: &&&str| {
        let begin = format!("-----BEGIN {label}-----");
        bytes.split(|&byte| byte == b'\n').any(|line| line.starts_with(begin.as_bytes()))
    };
    known.iter().find(begins).map(|label| format!(", only {label}")).unwrap_or_default()
}

/// Whether a key in PEM asks for a passphrase, in the form of PKCS#8 or in the older one of RFC 1421.
fn is_encrypted(pem: &[u8]) -> bool {
    let is_mark = |line: &[u8]| {
        line.starts_with(b"-----BEGIN ENCRYPTED PRIVATE KEY-----") || line.starts_with(b"Proc-Type: 4,ENCRYPTED")
    };
    pem.split(|&byte| byte == b'\n').any(is_mark)
}

/// A moment as a person reads it.
pub(super) fn shown(moment: OffsetDateTime) -> String {
    format!("{} {:02}:{:02} UTC", moment.date(), moment.hour(), moment.minute())
}

#[cfg(test)]
mod tests;

//! A certificate and its key, read from files and checked.

use std::{
    fs,
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
    sign::CertifiedKey,
};
use time::OffsetDateTime;

use super::validity::Validity;

/// Where a certificate and its key stand. It may be one file.
#[derive(Clone, Debug)]
pub(crate) struct PairFiles {
    /// The chain in PEM, the server's own certificate first.
    pub(crate) certificate: PathBuf,
    /// The key in PEM: PKCS#8, PKCS#1 or SEC1.
    pub(crate) key: PathBuf,
}

/// Why a pair cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PairError {
    #[error("{path} cannot be read")]
    Unreadable { path: String, source: io::Error },
    #[error("{path} is not PEM: {source}")]
    NotPem { path: String, source: pem::Error },
    #[error("{0} has no certificate; write the chain in PEM, the server's own certificate first")]
    NoCertificate(String),
    #[error("{path} has a certificate that cannot be used: {source}")]
    BadCertificate { path: String, source: TlsError },
    #[error("the certificate in {0} has no dates that can be read")]
    NoDates(String),
    #[error("the certificate in {path} expired on {on}; renew it")]
    Expired { path: String, on: String },
    #[error("the certificate in {path} is not valid before {from}; wait until then, or set this machine's clock")]
    NotYetValid { path: String, from: String },
    #[error("{0} has no private key; write it in PEM, as PKCS#8, PKCS#1 or SEC1")]
    NoKey(String),
    #[error("the key in {0} is encrypted, and nobody is here to type the passphrase; `openssl pkey` takes it off")]
    EncryptedKey(String),
    #[error("{path} has a key that cannot be used: {source}; ECDSA (P-256, P-384, P-521), Ed25519 and RSA can")]
    BadKey { path: String, source: TlsError },
    #[error(
        "the key in {key} does not belong to the certificate in {certificate}; the server's own stands first there"
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
    pub(super) not_after: OffsetDateTime,
}

impl PairFiles {
    /// Reads both files.
    pub(super) fn read(&self) -> Result<PairBytes, PairError> {
        let read = |path: &Path| {
            fs::read(path).map_err(|source| PairError::Unreadable { path: path.display().to_string(), source })
        };
        Ok(PairBytes { certificate: read(&self.certificate)?, key: read(&self.key)? })
    }

    /// Makes a pair of what was read. `now` must be within the certificate's dates.
    pub(super) fn check(
        &self,
        bytes: &PairBytes,
        provider: &CryptoProvider,
        now: OffsetDateTime,
    ) -> Result<Pair, PairError> {
        let path = self.certificate.display().to_string();
        let chain = self.chain(&bytes.certificate)?;
        let Some(own) = chain.first() else { return Err(PairError::NoCertificate(path)) };
        let validity = Validity::of(own);
        let certified = self.certified(chain, self.private_key(&bytes.key)?, provider)?;
        let Some(Validity { not_before, not_after }) = validity else { return Err(PairError::NoDates(path)) };
        if now > not_after {
            return Err(PairError::Expired { path, on: shown(not_after) });
        }
        if now < not_before {
            return Err(PairError::NotYetValid { path, from: shown(not_before) });
        }
        Ok(Pair { certified: Arc::new(certified), not_after })
    }

    fn chain(&self, bytes: &[u8]) -> Result<Vec<CertificateDer<'static>>, PairError> {
        CertificateDer::pem_slice_iter(bytes)
            .collect::<Result<_, _>>()
            .map_err(|source| PairError::NotPem { path: self.certificate.display().to_string(), source })
    }

    fn private_key(&self, bytes: &[u8]) -> Result<PrivateKeyDer<'static>, PairError> {
        let path = || self.key.display().to_string();
        if is_encrypted(bytes) {
            return Err(PairError::EncryptedKey(path()));
        }
        PrivateKeyDer::from_pem_slice(bytes).map_err(|error| match error {
            pem::Error::NoItemsFound => PairError::NoKey(path()),
            source => PairError::NotPem { path: path(), source },
        })
    }

    fn certified(
        &self,
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
        provider: &CryptoProvider,
    ) -> Result<CertifiedKey, PairError> {
        let (certificate_path, key_path) = (self.certificate.display().to_string(), self.key.display().to_string());
        let key = provider.key_provider.load_private_key(key);
        let key = key.map_err(|source| PairError::BadKey { path: key_path.clone(), source })?;
        let certified = CertifiedKey::new(chain, key);
        match certified.keys_match() {
            Ok(()) => Ok(certified),
            Err(TlsError::InconsistentKeys(_)) => {
                Err(PairError::Mismatch { certificate: certificate_path, key: key_path })
            }
            Err(source) => Err(PairError::BadCertificate { path: certificate_path, source }),
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

//! [`CertificateProblem`]: why clients refuse a certificate that can be served.

use rustls::CertificateError::{
    BadSignature, Expired, ExpiredContext, InvalidPurpose, InvalidPurposeContext, NotValidForNameContext, NotValidYet,
    NotValidYetContext, UnknownIssuer,
};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{Error, RootCertStore};

/// Reason why all or some clients refuse a certificate. Whether they have its root is not checked: only they know that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateProblem {
    /// No subjectAltName (RFC 9525, 6.3).
    #[error("the certificate names no host in subjectAltName, so clients refuse it; use one that does")]
    NoSubjectAltName,
    /// An extended key usage without serverAuth (RFC 5280, 4.2.1.12).
    #[error("the certificate's extended key usage lacks serverAuth, so clients refuse it; use one for servers")]
    NoServerAuth,
    /// Only the server's own certificate, which is not self-signed.
    #[error(
        "the file has no intermediate certificates, so clients that do not have the issuer refuse the certificate; add \
         them after it, unless its issuer is a root that clients have"
    )]
    MissingIntermediates,
    /// The chain does not lead from the server's own certificate to the last one.
    #[error(
        "the chain has a gap: a certificate was not issued by the next one, so clients refuse it; after each \
         certificate, put its issuer's, and omit all others"
    )]
    BrokenChain,
    /// A certificate between the server's own and the last one has expired or is not yet valid.
    #[error(
        "an intermediate certificate in the chain is expired or not yet valid, so clients refuse it; get the chain from \
         its issuer again"
    )]
    ExpiredIntermediate,
}

/// Returns the problems of a chain that begins with the server's own certificate, whose dates must be checked already.
pub(super) fn problems(chain: &[CertificateDer<'_>], provider: &CryptoProvider) -> Vec<CertificateProblem> {
    // A reserved name that no host can have (RFC 2606).
    let no_name = is_valid_for(&chain[0], "host.invalid").is_none().then_some(CertificateProblem::NoSubjectAltName);
    no_name.into_iter().chain(problem_of_path(chain, provider)).collect()
}

/// Verifies the chain as clients do, with its last certificate as the trusted root.
fn problem_of_path(chain: &[CertificateDer<'_>], provider: &CryptoProvider) -> Option<CertificateProblem> {
    let (leaf, last) = (ParsedCertificate::try_from(chain.first()?).ok()?, chain.last()?);
    let mut roots = RootCertStore::empty();
    roots.add(last.clone().into_owned()).ok()?;
    let algorithms = provider.signature_verification_algorithms.all;
    let verified = verify_server_cert_signed_by_trust_anchor(&leaf, &roots, &chain[1..], UnixTime::now(), algorithms);
    let Err(Error::InvalidCertificate(error)) = verified else { return None };
    match error {
        UnknownIssuer | BadSignature if chain.len() == 1 => Some(CertificateProblem::MissingIntermediates),
        UnknownIssuer | BadSignature => Some(CertificateProblem::BrokenChain),
        InvalidPurpose | InvalidPurposeContext { .. } => Some(CertificateProblem::NoServerAuth),
        Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. } => {
            Some(CertificateProblem::ExpiredIntermediate)
        }
        // Clients differ about the rest, such as algorithms and constraints.
        _ => None,
    }
}

pub(super) fn is_valid_for(certificate: &CertificateDer<'_>, host: &str) -> Option<bool> {
    let (host, certificate) = (ServerName::try_from(host).ok()?, ParsedCertificate::try_from(certificate).ok()?);
    match verify_server_name(&certificate, &host) {
        Err(Error::InvalidCertificate(NotValidForNameContext { presented, .. })) if presented.is_empty() => None,
        verified => Some(verified.is_ok()),
    }
}

#[cfg(test)]
mod tests;

//! [`Flaw`]: what a certificate that can be served has about it that clients refuse.

use std::fmt;

use rustls::{
    CertificateError, Error, RootCertStore,
    client::{verify_server_cert_signed_by_trust_anchor, verify_server_name},
    crypto::CryptoProvider,
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::ParsedCertificate,
};

use super::validity::Validity;

/// Why clients refuse a certificate, or some of them do. Which roots they have only they know, so it is no fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// No subjectAltName (RFC 9525, 6.3).
    NamesNoHost,
    /// An extended key usage without serverAuth (RFC 5280, 4.2.1.12).
    NotForServers,
    /// Nothing but the server's own certificate, which another one has issued.
    Alone,
    /// The chain does not lead from the server's own certificate to the last one.
    Broken,
    /// A certificate between the server's own and the last one has expired or is not yet valid.
    IssuerOutOfDate,
}

impl Flaw {
    /// What there is about the chain, whose first certificate is the server's own and says `own`. Whatever keeps it from
    /// being served was looked at before.
    pub(super) fn all_of(chain: &[CertificateDer<'_>], own: Validity, provider: &CryptoProvider) -> Vec<Self> {
        let unnamed = (!own.names_hosts).then_some(Self::NamesNoHost);
        unnamed.into_iter().chain(Self::of_path(chain, provider)).collect()
    }

    /// Verifies the chain as clients do, but with the last certificate sent as the root that they would have.
    fn of_path(chain: &[CertificateDer<'_>], provider: &CryptoProvider) -> Option<Self> {
        let (own, last) = (ParsedCertificate::try_from(chain.first()?).ok()?, chain.last()?);
        let mut roots = RootCertStore::empty();
        roots.add(last.clone().into_owned()).ok()?;
        let algorithms = provider.signature_verification_algorithms.all;
        let verified =
            verify_server_cert_signed_by_trust_anchor(&own, &roots, &chain[1..], UnixTime::now(), algorithms);
        let Err(Error::InvalidCertificate(error)) = verified else { return None };
        match error {
            CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
                Some(Self::NotForServers)
            }
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                Some(if chain.len() == 1 { Self::Alone } else { Self::Broken })
            }
            // Of the server's own certificate the dates were looked at before.
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. } => Some(Self::IssuerOutOfDate),
            // Of the rest, such as algorithms and constraints, clients think differently.
            _ => None,
        }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NamesNoHost => {
                "the certificate names no host in subjectAltName, so clients refuse it; have one made that does"
            }
            Self::NotForServers => {
                "the certificate's extended key usage leaves out serverAuth, so clients refuse it; have one made for servers"
            }
            Self::Alone => {
                "the certificate is sent alone, and clients that do not have its issuer refuse it; put the intermediate \
                 certificates behind it, unless its issuer is a root that clients have"
            }
            Self::Broken => {
                "the chain has a gap, where a certificate was not issued by the one behind it, so clients refuse it; put \
                 the issuer of each behind it, and nothing else"
            }
            Self::IssuerOutOfDate => {
                "an intermediate certificate in the chain is out of date, so clients refuse it; take the chain from its \
                 issuer again"
            }
        })
    }
}

/// Whether a certificate is for that host, a name or an address; `None` where that cannot be told.
pub(super) fn names(certificate: &CertificateDer<'_>, host: &str) -> Option<bool> {
    let host = ServerName::try_from(host).ok()?;
    let certificate = ParsedCertificate::try_from(certificate).ok()?;
    Some(verify_server_name(&certificate, &host).is_ok())
}

#[cfg(test)]
mod tests {
    use rcgen::{
        BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
        ExtendedKeyUsagePurpose, IsCa, KeyPair,
    };
    use rustls::crypto::aws_lc_rs;
    use time::{Duration, OffsetDateTime};

    use super::*;

    type Issuer = CertifiedIssuer<'static, KeyPair>;

    fn authority(name: &str) -> CertificateParams {
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params
    }

    fn root(name: &str) -> Issuer {
        CertifiedIssuer::self_signed(authority(name), KeyPair::generate().unwrap()).unwrap()
    }

    fn below(issuer: &Issuer, params: CertificateParams) -> Issuer {
        CertifiedIssuer::signed_by(params, KeyPair::generate().unwrap(), issuer).unwrap()
    }

    fn server() -> CertificateParams {
        CertificateParams::new(["api.example.com", "*.example.org", "::1"].map(str::to_owned)).unwrap()
    }

    /// The server's own certificate.
    fn own(params: &CertificateParams, issuer: &Issuer) -> Certificate {
        params.signed_by(&KeyPair::generate().unwrap(), issuer).unwrap()
    }

    fn flaws(chain: &[&CertificateDer<'static>]) -> Vec<Flaw> {
        let chain: Vec<_> = chain.iter().map(|&certificate| certificate.clone()).collect();
        Flaw::all_of(&chain, Validity::of(&chain[0]).unwrap(), &aws_lc_rs::default_provider())
    }

    #[test]
    fn a_chain_that_leads_to_its_end_has_none() {
        let root = root("root");
        let outer = below(&root, authority("outer"));
        let inner = below(&outer, authority("inner"));
        let own = own(&server(), &inner);
        assert_eq!(flaws(&[own.der(), inner.der()]), []);
        assert_eq!(flaws(&[own.der(), inner.der(), outer.der()]), []);
        assert_eq!(flaws(&[own.der(), inner.der(), outer.der(), root.der()]), []);
        let self_signed = server().self_signed(&KeyPair::generate().unwrap()).unwrap();
        assert_eq!(flaws(&[self_signed.der()]), []);
    }

    #[test]
    fn a_missing_intermediate_is_noticed() {
        let (root, other, namesake) = (root("root"), root("other"), root("inner"));
        let outer = below(&root, authority("outer"));
        let inner = below(&outer, authority("inner"));
        let own = own(&server(), &inner);
        assert_eq!(flaws(&[own.der()]), [Flaw::Alone]);
        for chain in [
            &[own.der(), own.der()][..],
            &[own.der(), outer.der()],
            &[own.der(), root.der()],
            &[own.der(), inner.der(), root.der()],
            &[own.der(), inner.der(), other.der()],
            &[own.der(), namesake.der()],
        ] {
            assert_eq!(flaws(chain), [Flaw::Broken], "{}", chain.len());
        }
    }

    #[test]
    fn what_the_certificate_is_for_is_noticed() {
        let root = root("root");
        let mut params = server();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        assert_eq!(flaws(&[own(&params, &root).der(), root.der()]), [Flaw::NotForServers]);
        assert_eq!(flaws(&[own(&params, &root).der()]), [Flaw::NotForServers]);
        params.extended_key_usages.push(ExtendedKeyUsagePurpose::ServerAuth);
        assert_eq!(flaws(&[own(&params, &root).der(), root.der()]), []);
        params.subject_alt_names.clear();
        assert_eq!(flaws(&[own(&params, &root).der(), root.der()]), [Flaw::NamesNoHost]);
        assert_eq!(flaws(&[own(&params, &root).der()]), [Flaw::NamesNoHost, Flaw::Alone]);
    }

    #[test]
    fn an_intermediate_that_has_expired_is_noticed() {
        let root = root("root");
        let mut params = authority("inner");
        params.not_after = OffsetDateTime::now_utc() - Duration::days(1);
        let inner = below(&root, params);
        assert_eq!(flaws(&[own(&server(), &inner).der(), inner.der(), root.der()]), [Flaw::IssuerOutOfDate]);
    }

    #[test]
    fn names_and_addresses_are_matched_as_clients_do() {
        let own = own(&server(), &root("root"));
        for (host, named) in [
            ("api.example.com", Some(true)),
            ("API.example.com", Some(true)),
            ("www.example.org", Some(true)),
            ("a.www.example.org", Some(false)),
            ("example.com", Some(false)),
            ("::1", Some(true)),
            ("127.0.0.1", Some(false)),
            ("", None),
        ] {
            assert_eq!(names(own.der(), host), named, "{host}");
        }
    }
}

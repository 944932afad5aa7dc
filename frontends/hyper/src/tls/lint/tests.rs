//! Chains that clients accept, and chains that they refuse.

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

fn issued_by(issuer: &Issuer, params: CertificateParams) -> Issuer {
    CertifiedIssuer::signed_by(params, KeyPair::generate().unwrap(), issuer).unwrap()
}

fn server() -> CertificateParams {
    CertificateParams::new(["api.example.com", "*.example.org", "::1"].map(str::to_owned)).unwrap()
}

/// Returns a server's own certificate.
fn own(params: &CertificateParams, issuer: &Issuer) -> Certificate {
    params.signed_by(&KeyPair::generate().unwrap(), issuer).unwrap()
}

fn problems_of(chain: &[&CertificateDer<'static>]) -> Vec<CertificateProblem> {
    let chain: Vec<_> = chain.iter().map(|&certificate| certificate.clone()).collect();
    problems(&chain, &aws_lc_rs::default_provider())
}

#[test]
fn complete_chain_has_no_problems() {
    let root = root("root");
    let outer = issued_by(&root, authority("outer"));
    let inner = issued_by(&outer, authority("inner"));
    let own = own(&server(), &inner);
    assert_eq!(problems_of(&[own.der(), inner.der()]), []);
    assert_eq!(problems_of(&[own.der(), inner.der(), outer.der()]), []);
    assert_eq!(problems_of(&[own.der(), inner.der(), outer.der(), root.der()]), []);
    let self_signed = server().self_signed(&KeyPair::generate().unwrap()).unwrap();
    assert_eq!(problems_of(&[self_signed.der()]), []);
}

#[test]
fn missing_intermediate_is_reported() {
    let (root, other, namesake) = (root("root"), root("other"), root("inner"));
    let outer = issued_by(&root, authority("outer"));
    let inner = issued_by(&outer, authority("inner"));
    let own = own(&server(), &inner);
    assert_eq!(problems_of(&[own.der()]), [CertificateProblem::MissingIntermediates]);
    for chain in [
        &[own.der(), own.der()][..],
        &[own.der(), outer.der()],
        &[own.der(), root.der()],
        &[own.der(), inner.der(), root.der()],
        &[own.der(), inner.der(), other.der()],
        &[own.der(), namesake.der()],
    ] {
        assert_eq!(problems_of(chain), [CertificateProblem::BrokenChain], "{}", chain.len());
    }
}

#[test]
fn missing_server_auth_or_name_is_reported() {
    let root = root("root");
    let mut params = server();
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    assert_eq!(problems_of(&[own(&params, &root).der(), root.der()]), [CertificateProblem::NoServerAuth]);
    assert_eq!(problems_of(&[own(&params, &root).der()]), [CertificateProblem::NoServerAuth]);
    params.extended_key_usages.push(ExtendedKeyUsagePurpose::ServerAuth);
    assert_eq!(problems_of(&[own(&params, &root).der(), root.der()]), []);
    params.subject_alt_names.clear();
    assert_eq!(is_valid_for(own(&params, &root).der(), "localhost"), None);
    assert_eq!(is_valid_for(own(&params, &root).der(), "::1"), None);
    assert_eq!(problems_of(&[own(&params, &root).der(), root.der()]), [CertificateProblem::NoSubjectAltName]);
    assert_eq!(
        problems_of(&[own(&params, &root).der()]),
        [CertificateProblem::NoSubjectAltName, CertificateProblem::MissingIntermediates]
    );
}

#[test]
fn expired_intermediate_is_reported() {
    let root = root("root");
    let mut params = authority("inner");
    params.not_after = OffsetDateTime::now_utc() - Duration::days(1);
    let inner = issued_by(&root, params);
    assert_eq!(
        problems_of(&[own(&server(), &inner).der(), inner.der(), root.der()]),
        [CertificateProblem::ExpiredIntermediate]
    );
}

#[test]
fn names_and_addresses_match_like_in_clients() {
    let own = own(&server(), &root("root"));
    for (host, is_valid) in [
        ("api.example.com", Some(true)),
        ("API.example.com", Some(true)),
        ("www.example.org", Some(true)),
        ("a.www.example.org", Some(false)),
        ("example.com", Some(false)),
        ("::1", Some(true)),
        ("127.0.0.1", Some(false)),
        ("", None),
    ] {
        assert_eq!(is_valid_for(own.der(), host), is_valid, "{host}");
    }
}

//! The record of a revoked token: a digest for each of its valid signatures.

use serde_json::json;

use super::super::Revocation;
use super::super::token::decode;
use super::fixture::*;
use super::signature::{P256_ORDER, add, decode_hex};
use crate::auth::{BearerToken, TokenDigest};

const P384_ORDER: &str =
    "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973";

fn revocation(token: &str) -> Option<Revocation> {
    Revocation::of(BearerToken::new(token).unwrap())
}

fn digest(token: &str) -> TokenDigest {
    BearerToken::new(token).unwrap().digest()
}

/// The twin `(r, n - s)` of an ECDSA signature `(r, s)` verifies too, so a revocation has both digests (decision O29).
#[test]
fn twin_of_ecdsa_signature_has_another_digest() {
    let fixture = Fixture::new();
    for (signer, order) in [(&*ES256, P256_ORDER), (&ES384, P384_ORDER)] {
        // Several signatures, so that subtractions with and without borrows occur.
        for number in 0..8 {
            let token = signer.token(&signer.header(), &patch(claims(), &json!({ "jti": number.to_string() })));
            let (signed, signature) = token.rsplit_once('.').unwrap();
            let valid = decode(signature).unwrap();
            let (r, s) = valid.split_at(valid.len() / 2);
            let negative: Vec<_> = s.iter().map(|digit| !digit).collect();
            let twin = format!("{signed}.{}", base64([r, &add(&decode_hex(order), &negative, 1)].concat()));
            let (one, other) = (fixture.accepts(&token), fixture.accepts(&twin));
            assert_ne!(one.credential_id, other.credential_id);
            assert_eq!(one.rate_limit_subject(), other.rate_limit_subject());
            assert_eq!(revocation(&token).unwrap().digests(), [digest(&token), digest(&twin)]);
            // Revoking either of the two revokes both.
            assert_eq!(revocation(&twin).unwrap().digests(), [digest(&twin), digest(&token)]);
        }
    }
}

#[test]
fn revocation_of_other_signatures_has_one_digest() {
    for signer in [&*ED25519, &RSA] {
        let token = signer.token(&signer.header(), &claims());
        assert_eq!(revocation(&token).unwrap().digests(), [digest(&token)]);
    }
    let token = with_claims(&json!({}));
    let (signed, _) = token.rsplit_once('.').unwrap();
    for length in [0, 63, 65, 96] {
        let token = format!("{signed}.{}", base64(vec![1; length]));
        assert_eq!(revocation(&token).unwrap().digests().len(), 1, "{length}");
    }
}

/// The token need not be verifiable, because its key may be lost.
#[test]
fn revocation_reads_expiry_and_claims() {
    let token = OTHER_ES256.token(&ES256.header(), &patch(claims(), &json!({ "exp": 1.5 })));
    let revocation = revocation(&token).unwrap();
    assert_eq!(revocation.expires_at().as_microseconds(), 1_500_000);
    assert!(revocation.mentions("acc_1") && !revocation.mentions("acc_2") && !revocation.mentions("sub"));
}

#[test]
fn unacceptable_tokens_have_no_revocation() {
    let long = with_claims(&json!({ "x": "x".repeat(8_000) }));
    for token in [
        "a.b.c",
        "opaque",
        "cato_x",
        &long,
        &with_claims(&json!({ "exp": null })),
        &with_claims(&json!({ "exp": "9" })),
    ] {
        assert!(revocation(token).is_none(), "{token}");
    }
}

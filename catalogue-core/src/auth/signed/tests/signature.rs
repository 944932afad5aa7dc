//! A signature must be by a key of the set, over the token's header and payload, and in the only valid encoding.

use serde_json::json;

use super::super::token::decode;
use super::fixture::*;

/// Order of the group of P-256, big-endian.
pub(super) const P256_ORDER: &str = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
/// Order of the group of Ed25519, big-endian, although Ed25519 itself is little-endian.
const ED25519_ORDER: &str = "1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed";

pub(super) fn decode_hex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// Returns `a + b + carry` modulo the power of two of their length, big-endian.
pub(super) fn add(a: &[u8], b: &[u8], mut carry: u16) -> Vec<u8> {
    let mut sum = Vec::new();
    for (a, b) in a.iter().zip(b).rev() {
        carry += u16::from(*a) + u16::from(*b);
        sum.insert(0, carry as u8);
        carry >>= 8;
    }
    sum
}

#[test]
fn changed_header_or_payload_invalidates_signature() {
    let fixture = Fixture::new();
    let payload = claims().to_string();
    let token = with_claims(&json!({}));
    let (header, rest) = token.split_once('.').unwrap();
    let signature = rest.split_once('.').unwrap().1;
    let mut refused = 0;
    for bit in 0..payload.len() * 8 {
        let mut changed = payload.clone().into_bytes();
        changed[bit / 8] ^= 1 << (bit % 8);
        let (verdict, outcomes) = fixture.verdict_and_outcomes(&format!("{header}.{}.{signature}", base64(changed)));
        // A changed issuer makes it another authenticator's token; a payload that is not JSON is malformed.
        assert!(
            outcomes.is_empty() || outcomes == ["form"] || outcomes == ["signature"],
            "{bit}: {verdict:?} {outcomes:?}"
        );
        refused += usize::from(outcomes == ["signature"]);
    }
    assert!(refused > 500, "{refused}");
    let other = patch(ES256.header(), &json!({ "x": 1 }));
    fixture.refuses("header", &format!("{}.{rest}", base64(other.to_string())), "signature");
}

#[test]
fn malformed_signatures_are_refused() {
    let fixture = Fixture::new();
    for signer in [&*ES256, &ES384, &ED25519, &RSA] {
        let token = signer.token(&signer.header(), &claims());
        let (signed, _) = token.rsplit_once('.').unwrap();
        let valid = signer.sign("RS256", signed);
        let refuses = |name: &str, signature: &[u8]| {
            fixture.refuses(name, &format!("{signed}.{}", base64(signature)), "signature");
        };
        refuses("empty", b"");
        refuses("cut", &valid[..valid.len() - 1]);
        refuses("longer", &[&valid[..], &[0]].concat());
        refuses("a zero before it", &[&[0], &valid[..]].concat());
        refuses("doubled", &valid.repeat(2));
        refuses("zeros", &vec![0; valid.len()]);
        refuses("ones", &vec![0xff; valid.len()]);
        let mut reversed = valid.clone();
        reversed.reverse();
        refuses("reversed", &reversed);
        fixture.accepts(&format!("{signed}.{}", base64(&valid)));
    }
}

#[test]
fn ecdsa_r_and_s_must_be_in_range() {
    let fixture = Fixture::new();
    let token = with_claims(&json!({}));
    let (signed, _) = token.rsplit_once('.').unwrap();
    let valid = ES256.sign("ES256", signed);
    let (r, s) = valid.split_at(32);
    let (zero, order) = (vec![0; 32], decode_hex(P256_ORDER));
    for (name, r, s) in [("r 0", &zero[..], s), ("s 0", r, &zero), ("r n", &order, s), ("s n", r, &order)] {
        fixture.refuses(name, &format!("{signed}.{}", base64([r, s].concat())), "signature");
    }
    // The signature in DER, as in X.509.
    let integer = |number: &[u8]| [&[2, 33, 0], number].concat();
    let der = [&[0x30, 70][..], &integer(r), &integer(s)].concat();
    fixture.refuses("DER", &format!("{signed}.{}", base64(der)), "signature");
}

#[test]
fn ed25519_twin_signature_is_refused() {
    let fixture = Fixture::new();
    let token = ED25519.token(&ED25519.header(), &claims());
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let mut twin = decode(signature).unwrap();
    twin[32..].reverse();
    let mut sum = add(&twin[32..], &decode_hex(ED25519_ORDER), 0);
    sum.reverse();
    twin.splice(32.., sum);
    fixture.refuses("S + L", &format!("{signed}.{}", base64(twin)), "signature");
    fixture.accepts(&token);
}

/// A token without `kid` is tried with at most four keys.
#[test]
fn at_most_four_keys_are_tried() {
    let jwk = |signer: &Signer, number: usize| patch(signer.jwk(), &json!({ "kid": format!("k{number}") }));
    let token = with_header(&json!({ "kid": null }));
    for (before, is_found) in [(3, true), (4, false)] {
        let others = (0..before).map(|number| jwk(&OTHER_ES256, number));
        let set = set(others.chain([jwk(&ES256, before)]));
        let fixture = Fixture::with_set(set);
        if is_found {
            fixture.accepts(&token);
        } else {
            fixture.refuses("the fifth", &token, "signature");
            fixture.accepts(&with_header(&json!({ "kid": "k4" })));
        }
    }
}

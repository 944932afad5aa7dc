//! Properties: no input panics, and every accepted token is accepted by another library too.

use std::sync::LazyLock;

use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::SignedTokens;
use super::fixture::*;
use crate::auth::{Authenticator, BearerToken, Verdict};
use crate::timestamp::Timestamp;

/// Authenticator on the system's clock, which the other library uses.
static TOKENS: LazyLock<SignedTokens> =
    LazyLock::new(|| SignedTokens::builder(ISSUER, AUDIENCE, every_key()).build().unwrap());

fn verdict(text: &str) -> Option<Verdict> {
    BearerToken::new(text).map(|token| ready(TOKENS.authenticate(token)).unwrap())
}

/// Verifies a token with another library and the keys that its `kid` allows, until one fits. Returns the claims.
fn verify_with_other_library(text: &str) -> Result<Value, String> {
    let header = decode_header(text).map_err(|error| error.to_string())?;
    let mut validation = Validation::new(header.alg);
    (validation.leeway, validation.validate_nbf) = (0, false);
    validation.set_issuer(&[ISSUER]);
    validation.set_audience(&[AUDIENCE]);
    validation.set_required_spec_claims(&["exp", "iss", "aud"]);
    let mut last = Err("no such key".to_owned());
    for signer in [&*ES256, &ES384, &ED25519, &RSA] {
        if last.is_err() && header.kid.as_deref().is_none_or(|kid| kid == signer.kid) {
            let jwk: Jwk = serde_json::from_value(signer.jwk()).unwrap();
            let decoded = decode::<Value>(text, &DecodingKey::from_jwk(&jwk).unwrap(), &validation);
            last = decoded.map(|token| token.claims).map_err(|error| error.to_string());
        }
    }
    last
}

fn soon() -> i64 {
    Timestamp::now().as_microseconds() / 1_000_000 + 600
}

#[test]
fn both_libraries_accept_valid_tokens() {
    for signer in [&*ES256, &ES384, &ED25519, &RSA] {
        let token = signer.token(&signer.header(), &patch(claims(), &json!({ "exp": soon() })));
        assert!(matches!(verdict(&token), Some(Verdict::Accepted(_))));
        assert_eq!(verify_with_other_library(&token).unwrap()["sub"], "acc_1");
    }
    assert!(verify_with_other_library(&with_claims(&json!({ "aud": "other", "exp": soon() }))).is_err());
    assert_eq!(Algorithm::ES256, decode_header(with_claims(&json!({}))).unwrap().alg);
}

fn value() -> impl Strategy<Value = Value> {
    let times = prop_oneof![Just(-600_i64), Just(-60), Just(60), Just(600)].prop_map(|off| json!(soon() - 600 + off));
    prop_oneof![
        Just(json!(null)),
        Just(json!(ISSUER)),
        Just(json!(AUDIENCE)),
        Just(json!([AUDIENCE, "x"])),
        Just(json!("at+jwt")),
        Just(json!("read:courses")),
        "[ -~]{0,8}".prop_map(|text| json!(text)),
        prop_oneof!["none", "HS256", "ES256", "ES384", "EdDSA", "PS256", "RS256"].prop_map(|alg| json!(alg)),
        prop_oneof!["es256", "es384", "ed25519", "rsa", "other"].prop_map(|kid| json!(kid)),
        times,
        any::<i64>().prop_map(|number| json!(number)),
        any::<f64>().prop_map(|number| json!(number)),
    ]
}

fn members(names: &'static [&'static str]) -> impl Strategy<Value = Map<String, Value>> {
    let one = (proptest::sample::select(names), value()).prop_map(|(name, value)| (name.to_owned(), value));
    vec(one, 0..3).prop_map(|members| members.into_iter().collect())
}

proptest! {
    #[test]
    fn arbitrary_text_is_never_accepted(text in "[A-Za-z0-9._~+/=-]{0,200}") {
        prop_assert!(!matches!(verdict(&text), Some(Verdict::Accepted(_))));
    }

    #[test]
    fn accepted_tokens_are_accepted_by_another_library(
        signer in prop_oneof![4 => Just(0), 1 => 1..5_usize],
        header in members(&["alg", "kid", "typ", "crit", "x"]),
        payload in members(&["iss", "aud", "exp", "nbf", "iat", "sub", "client_id", "jti", "scope", "cnf", "x"]),
        bit in proptest::option::weighted(0.2, any::<proptest::sample::Index>()),
    ) {
        let signer = [&*ES256, &ES384, &ED25519, &RSA, &OTHER_ES256][signer];
        let header = patch(signer.header(), &Value::Object(header));
        let payload = patch(patch(claims(), &json!({ "exp": soon() })), &Value::Object(payload));
        let mut token = signer.token(&header, &payload).into_bytes();
        if let Some(bit) = bit {
            let bit = bit.index(token.len() * 8);
            token[bit / 8] ^= 1 << (bit % 8);
        }
        let token = String::from_utf8_lossy(&token);
        if let Some(Verdict::Accepted(identity)) = verdict(&token) {
            let claims = verify_with_other_library(&token);
            prop_assert!(claims.is_ok(), "{:?} {}", claims, token);
            prop_assert_eq!(&claims.unwrap()["sub"], identity.account.as_str());
        }
    }
}

//! The keys of an issuer, one per type, and a second implementation that verifies its tokens.

use std::sync::LazyLock;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair,
    RSA_PKCS1_SHA256, RSA_PSS_SHA256, RsaKeyPair, RsaPublicKeyComponents,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use catalogue_core::auth::signed::{SignedTokens, SignedTokensBuilder};
use catalogue_core::auth::{Authenticator, BearerToken, Verdict};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{DecodingKey, Validation, decode, decode_header};
use serde_json::{Value, json};

use super::call::block_on;

pub(super) const ISSUER: &str = "https://id.example.com";
pub(super) const AUDIENCE: &str = "https://api.example.com/api/v1";
/// Claims of a token that is accepted.
pub(super) const VALID_PAYLOAD: &[u8] = br#"{"iss":"https://id.example.com","aud":"https://api.example.com/api/v1",
    "sub":"acc_1","client_id":"c","jti":"j","iat":1,"exp":4102444800}"#;

static P256: LazyLock<EcdsaKeyPair> =
    LazyLock::new(|| EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap());
static P384: LazyLock<EcdsaKeyPair> =
    LazyLock::new(|| EcdsaKeyPair::generate(&ECDSA_P384_SHA384_FIXED_SIGNING).unwrap());
static ED25519: LazyLock<Ed25519KeyPair> = LazyLock::new(|| Ed25519KeyPair::generate().unwrap());
static RSA: LazyLock<RsaKeyPair> = LazyLock::new(|| RsaKeyPair::generate(KeySize::Rsa2048).unwrap());

/// Returns an authenticator for the issuer's tokens that has all its keys.
pub(super) fn tokens(change: impl FnOnce(SignedTokensBuilder) -> SignedTokensBuilder) -> SignedTokens {
    let keys = ["p256", "p384", "ed", "rsa"].map(jwk);
    let set = json!({ "keys": keys }).to_string();
    change(SignedTokens::builder(ISSUER, AUDIENCE, Bytes::from(set))).build().unwrap()
}

pub(super) fn verdict(tokens: &SignedTokens, text: &str) -> Verdict {
    block_on(tokens.authenticate(BearerToken::new(text).expect("a bearer token"))).expect("available keys")
}

/// Returns the public key `kid`.
pub(super) fn jwk(kid: &str) -> Value {
    let point = |pair: &EcdsaKeyPair, curve: &str| {
        let point = &pair.public_key().as_ref()[1..];
        let (x, y) = point.split_at(point.len() / 2);
        json!({ "kty": "EC", "crv": curve, "kid": kid, "x": base64(x), "y": base64(y) })
    };
    match kid {
        "p256" => point(&P256, "P-256"),
        "p384" => point(&P384, "P-384"),
        "rsa" => {
            let RsaPublicKeyComponents { n, e } = RsaPublicKeyComponents::<Vec<u8>>::from(RSA.public_key());
            json!({ "kty": "RSA", "kid": kid, "n": base64(n), "e": base64(e) })
        }
        _ => json!({ "kty": "OKP", "crv": "Ed25519", "kid": kid, "x": base64(ED25519.public_key().as_ref()) }),
    }
}

/// Returns the id of the key for an algorithm; the default is `ed`.
pub(super) fn kid_of(algorithm: &str) -> &'static str {
    match algorithm {
        "ES256" => "p256",
        "ES384" => "p384",
        "PS256" | "RS256" => "rsa",
        _ => "ed",
    }
}

/// Returns a token with `header` and `payload`, signed with `algorithm`.
pub(super) fn token(header: &[u8], payload: &[u8], algorithm: &str) -> String {
    let signed = format!("{}.{}", base64(header), base64(payload));
    let (random, bytes) = (SystemRandom::new(), signed.as_bytes());
    let signature = match algorithm {
        "ES256" => P256.sign(&random, bytes).unwrap().as_ref().to_vec(),
        "ES384" => P384.sign(&random, bytes).unwrap().as_ref().to_vec(),
        "PS256" | "RS256" => {
            let mut signature = vec![0; RSA.public_modulus_len()];
            let padding = if algorithm == "PS256" { &RSA_PSS_SHA256 } else { &RSA_PKCS1_SHA256 };
            RSA.sign(padding, &random, bytes, &mut signature).unwrap();
            signature
        }
        _ => ED25519.sign(bytes).as_ref().to_vec(),
    };
    format!("{signed}.{}", base64(signature))
}

/// Returns the claims of a token, if jsonwebtoken accepts it.
pub(super) fn verify_with_jsonwebtoken(text: &str, algorithm: &str) -> Result<Value, String> {
    let header = decode_header(text).map_err(|error| error.to_string())?;
    let mut validation = Validation::new(header.alg);
    (validation.leeway, validation.validate_nbf) = (0, false);
    validation.set_issuer(&[ISSUER]);
    validation.set_audience(&[AUDIENCE]);
    validation.set_required_spec_claims(&["exp", "iss", "aud"]);
    let key: Jwk = serde_json::from_value(jwk(kid_of(algorithm))).unwrap();
    let decoded = decode::<Value>(text, &DecodingKey::from_jwk(&key).unwrap(), &validation);
    decoded.map(|token| token.claims).map_err(|error| error.to_string())
}

fn base64(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

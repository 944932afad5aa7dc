//! [`Issuer`]: an authorization server with a fresh key. The library `jsonwebtoken` signs its tokens.

use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use catalogue_core::auth::signed::SignedTokens;
use jsonwebtoken::{EncodingKey, encode};
use serde_json::{Value, json};

use crate::app::OWNER;

pub(super) const ISSUER: &str = "https://id.example.com";
pub(super) const AUDIENCE: &str = "https://api.example.com/api/v1";

/// An issuer with one key.
pub(crate) struct Issuer {
    key: EncodingKey,
    pub(super) set: Bytes,
}

impl Issuer {
    pub(crate) fn new() -> Self {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
        let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
        let number = |bytes| URL_SAFE_NO_PAD.encode(bytes);
        let jwk = json!({ "kty": "EC", "crv": "P-256", "kid": "k", "x": number(x), "y": number(y) });
        let key = EncodingKey::from_ec_der(pair.to_pkcs8v1().unwrap().as_ref());
        Self { key, set: json!({ "keys": [jwk] }).to_string().into() }
    }

    pub(crate) fn tokens(&self) -> SignedTokens {
        self.tokens_of(ISSUER)
    }

    /// Returns the verifier of tokens that name `issuer`.
    pub(super) fn tokens_of(&self, issuer: &str) -> SignedTokens {
        SignedTokens::builder(issuer, AUDIENCE, self.set.clone()).build().unwrap()
    }

    /// Returns a token of [`OWNER`] for reading courses, with the claims in `other`.
    pub(crate) fn token(&self, other: &Value) -> String {
        let header = serde_json::from_value(json!({ "typ": "at+jwt", "alg": "ES256", "kid": "k" })).unwrap();
        let mut claims = json!({
            "iss": ISSUER, "aud": AUDIENCE, "sub": OWNER, "client_id": "partner", "jti": "j", "iat": now() - 10.0,
            "exp": now() + 600.0, "scope": "read:courses",
        });
        claims.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
        encode(&header, &claims, &self.key).unwrap()
    }
}

pub(super) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

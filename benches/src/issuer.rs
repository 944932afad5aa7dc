//! [`Issuer`]: signs tokens as an authorization server would.

use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, ParsedPublicKey,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use catalogue_core::AccountId;
use serde_json::{Value, json};

/// An authorization server with one newly generated key (ES256).
#[derive(Debug)]
pub struct Issuer(EcdsaKeyPair);

impl Issuer {
    /// Claim `iss` of the tokens.
    pub const NAME: &'static str = "https://id.example.com";
    /// Claim `aud` of the tokens.
    pub const AUDIENCE: &'static str = "https://api.example.com/api/v1";

    /// Creates an issuer with a new key.
    #[expect(clippy::new_without_default, reason = "each has a different key")]
    pub fn new() -> Self {
        Self(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).expect("a key"))
    }

    /// Returns the issuer's key set as JSON.
    pub fn key_set(&self) -> String {
        let (x, y) = self.0.public_key().as_ref()[1..].split_at(32);
        json!({ "keys": [{ "kty": "EC", "crv": "P-256", "kid": "k", "x": base64(x), "y": base64(y) }] }).to_string()
    }

    /// Returns the key that verifies its signatures.
    pub fn public_key(&self) -> ParsedPublicKey {
        ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, self.0.public_key().as_ref()).expect("a key")
    }

    /// Returns a token for `account` that is valid for a day, and different for each `number`.
    pub fn token(&self, account: &AccountId, number: usize) -> String {
        self.signed("k", account, number)
    }

    /// Like [`token`](Self::token), but names a key that the issuer does not have.
    pub fn token_of_another_key(&self, account: &AccountId) -> String {
        self.signed("another", account, 0)
    }

    /// Returns a token with a wrong signature.
    pub fn forged(&self, account: &AccountId) -> String {
        let (one, other) = (self.token(account, 0), self.token(account, 1));
        let [(signed, _), (_, signature)] = [&one, &other].map(|token| token.rsplit_once('.').unwrap_or_default());
        format!("{signed}.{signature}")
    }

    fn signed(&self, kid: &str, account: &AccountId, number: usize) -> String {
        let (now, random) = (SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(), SystemRandom::new());
        let header = json!({ "typ": "at+jwt", "alg": "ES256", "kid": kid });
        let claims = json!({
            "account": account.as_str(), "jti": format!("{number:032x}"), "sub": "partner", "iat": now.as_secs(),
            "exp": now.as_secs() + 86_400, "scope": "read:profile read:courses", "client_id": "partner",
            "iss": Self::NAME, "aud": Self::AUDIENCE,
        });
        let part = |json: &Value| base64(json.to_string().as_bytes());
        let signed = format!("{}.{}", part(&header), part(&claims));
        let signature = self.0.sign(&random, signed.as_bytes()).expect("a signature");
        format!("{signed}.{}", base64(signature.as_ref()))
    }
}

fn base64(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

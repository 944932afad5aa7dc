//! [`Issuer`]: signs tokens as an authorization server does, without one.

use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ED25519, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
    ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaKeyPair, RsaPublicKeyComponents,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use catalogue_core::AccountId;
use serde_json::{Value, json};

/// An authorization server with one key, which was just made.
#[derive(Debug)]
pub struct Issuer(Key);

#[derive(Debug)]
enum Key {
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
    Rsa(Box<RsaKeyPair>),
}

impl Issuer {
    /// What its tokens have in `iss`.
    pub const NAME: &'static str = "https://id.example.com";
    /// Whom its tokens are for.
    pub const AUDIENCE: &'static str = "https://api.example.com/api/v1";
    /// The algorithms that it can have.
    pub const ALGORITHMS: [&'static str; 3] = ["ES256", "RS256", "EdDSA"];

    /// One whose key is for that algorithm.
    ///
    /// # Panics
    /// When the algorithm is none of [`ALGORITHMS`](Self::ALGORITHMS), or no key can be made.
    #[must_use]
    pub fn of(algorithm: &str) -> Self {
        Self(match algorithm {
            "ES256" => Key::Ec(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).expect("a key")),
            "EdDSA" => Key::Ed(Ed25519KeyPair::generate().expect("a key")),
            "RS256" => Key::Rsa(Box::new(RsaKeyPair::generate(KeySize::Rsa2048).expect("a key"))),
            _ => panic!("{algorithm} is not made here"),
        })
    }

    /// Its key set.
    #[must_use]
    pub fn key_set(&self) -> String {
        let jwk = match &self.0 {
            Key::Ec(pair) => {
                let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
                json!({ "kty": "EC", "crv": "P-256", "kid": "k", "x": text(x), "y": text(y) })
            }
            Key::Ed(pair) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "kid": "k", "x": text(pair.public_key().as_ref()) })
            }
            Key::Rsa(pair) => {
                let RsaPublicKeyComponents { n, e } = RsaPublicKeyComponents::<Vec<u8>>::from(pair.public_key());
                json!({ "kty": "RSA", "kid": "k", "n": text(&n), "e": text(&e) })
            }
        };
        json!({ "keys": [jwk] }).to_string()
    }

    /// What verifies its signatures.
    ///
    /// # Panics
    /// Never: the key is its own.
    #[must_use]
    pub fn public_key(&self) -> ParsedPublicKey {
        let public = match &self.0 {
            Key::Ec(pair) => ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.public_key().as_ref()),
            Key::Ed(pair) => ParsedPublicKey::new(&ED25519, pair.public_key().as_ref()),
            Key::Rsa(pair) => RsaPublicKeyComponents::<Vec<u8>>::from(pair.public_key())
                .to_parsed_public_key(&RSA_PKCS1_2048_8192_SHA256),
        };
        public.expect("a key")
    }

    /// A token by which a client reads the courses of the account for a day; another one for each number.
    ///
    /// # Panics
    /// When nothing can be signed.
    #[must_use]
    pub fn token(&self, account: &AccountId, number: usize) -> String {
        self.signed("k", account, number)
    }

    /// The same in the name of a key that the issuer does not have.
    #[must_use]
    pub fn token_of_another_key(&self, account: &AccountId) -> String {
        self.signed("another", account, 0)
    }

    /// A token whose signature is wrong.
    #[must_use]
    pub fn forged(&self, account: &AccountId) -> String {
        let (one, other) = (self.token(account, 0), self.token(account, 1));
        let [(signed, _), (_, signature)] = [&one, &other].map(|token| token.rsplit_once('.').unwrap_or_default());
        format!("{signed}.{signature}")
    }

    fn signed(&self, kid: &str, account: &AccountId, number: usize) -> String {
        let (now, random) = (SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(), SystemRandom::new());
        let algorithm = match &self.0 {
            Key::Ec(_) => "ES256",
            Key::Ed(_) => "EdDSA",
            Key::Rsa(_) => "RS256",
        };
        let header = json!({ "typ": "at+jwt", "alg": algorithm, "kid": kid });
        let claims = json!({
            "account": account.as_str(), "jti": format!("{number:032x}"), "sub": "partner", "iat": now.as_secs(),
            "exp": now.as_secs() + 86_400, "scope": "read:profile read:courses", "client_id": "partner",
            "iss": Self::NAME, "aud": Self::AUDIENCE,
        });
        let part = |json: &Value| text(json.to_string().as_bytes());
        let signed = format!("{}.{}", part(&header), part(&claims));
        let signature = match &self.0 {
            Key::Ec(pair) => pair.sign(&random, signed.as_bytes()).expect("a signature").as_ref().to_vec(),
            Key::Ed(pair) => pair.sign(signed.as_bytes()).as_ref().to_vec(),
            Key::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, signed.as_bytes(), &mut signature).expect("a signature");
                signature
            }
        };
        format!("{signed}.{}", text(&signature))
    }
}

fn text(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

//! [`KeySet`]: parses a JWK set (RFC 7517) into keys that verify signatures.

use std::iter::repeat_n;

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA256, RsaPublicKeyComponents,
};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::algorithm::SignatureAlgorithm;
use super::token::decode;

/// Maximum size of a set, in bytes; [`MAX_KEYS`] is the maximum number of its keys (decision O21).
const MAX_BYTES: usize = 256 << 10;
const MAX_KEYS: usize = 100;
/// Maximum number of keys that are tried on one token (decision O13).
const MAX_CANDIDATES: usize = 4;

/// Usable keys of an issuer.
#[derive(Debug)]
pub(super) struct KeySet {
    keys: Vec<Key>,
    /// Number of usable JWKs. `keys` has a JWK once for each of its algorithms.
    pub(super) usable: usize,
    /// Keys that are not used: the `kid` of each, and the reason.
    pub(super) skipped: Vec<(Option<Box<str>>, SkipReason)>,
}

#[derive(Debug)]
pub(super) struct Key {
    kid: Option<Box<str>>,
    algorithm: SignatureAlgorithm,
    /// Identifies this key, in any set.
    pub(super) id: KeyId,
    public: ParsedPublicKey,
}

/// A digest over a key, its `kid` and its algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyId([u8; 32]);

/// Why a key is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SkipReason {
    #[error("private key")]
    Private,
    #[error("not for verifying signatures")]
    Use,
    #[error("unsupported type, curve or algorithm")]
    Kind,
    #[error("RSA modulus outside 2,048 to 8,192 bits")]
    Size,
    #[error("invalid parameters for its type")]
    Malformed,
}

impl KeySet {
    /// Parses a set, or returns why it cannot be used.
    pub(super) fn parse(json: &[u8]) -> Result<Self, String> {
        let not_a_key_set = |why: &str| format!("the response is not a key set (RFC 7517): {why}");
        if json.len() > MAX_BYTES {
            return Err(format!("the key set has more than {MAX_BYTES} bytes"));
        }
        let set: Value =
            serde_json::from_slice(json).map_err(|error| not_a_key_set(&format!("invalid JSON: {error}")))?;
        let jwks = set.get("keys").and_then(Value::as_array);
        let jwks = jwks.ok_or_else(|| not_a_key_set("expected an object with an array `keys`"))?;
        if jwks.len() > MAX_KEYS {
            return Err(format!("the key set has more than {MAX_KEYS} keys"));
        }
        let mut parsed = Self { keys: Vec::new(), usable: 0, skipped: Vec::new() };
        for jwk in jwks {
            match parse_keys(jwk) {
                Ok(keys) => {
                    parsed.keys.extend(keys);
                    parsed.usable += 1;
                }
                Err(why) => parsed.skipped.push((text(jwk, "kid").map(Into::into), why)),
            }
        }
        if parsed.keys.is_empty() {
            let why: String = parsed.describe_skipped().iter().map(|key| format!("; {key}")).collect();
            return Err(format!("the key set has no usable key{why}"));
        }
        Ok(parsed)
    }

    /// Returns the keys that are not used, each with its `kid` and the reason.
    pub(super) fn describe_skipped(&self) -> Vec<String> {
        let describe = |(kid, why): &(Option<Box<str>>, SkipReason)| match kid {
            Some(kid) => format!("{kid:?}: {why}"),
            None => format!("key without a kid: {why}"),
        };
        self.skipped.iter().map(describe).collect()
    }

    pub(super) fn has_kid(&self, kid: &str) -> bool {
        self.keys.iter().any(|key| key.kid.as_deref() == Some(kid))
    }

    pub(super) fn kids_without(&self, other: Option<&Self>) -> Vec<&str> {
        let others = self.keys.iter().filter(|key| other.is_none_or(|other| !other.contains(key.id)));
        others.map(|key| key.kid.as_deref().unwrap_or("without a kid")).collect()
    }

    pub(super) fn contains(&self, id: KeyId) -> bool {
        self.keys.iter().any(|key| key.id == id)
    }

    /// Returns the keys to try on a token with this `kid` and algorithm.
    pub(super) fn candidates(&self, kid: Option<&str>, algorithm: SignatureAlgorithm) -> impl Iterator<Item = &Key> {
        let named = move |key: &&Key| kid.is_none() || key.kid.as_deref() == kid;
        self.keys.iter().filter(named).filter(move |key| key.algorithm == algorithm).take(MAX_CANDIDATES)
    }
}

impl Key {
    /// Returns whether `signature` over `signed` was made with this key.
    pub(super) fn verifies(&self, signed: &[u8], signature: &[u8]) -> bool {
        self.public.verify_sig(signed, signature).is_ok()
    }
}

/// Returns one key for each algorithm that a JWK supports.
fn parse_keys(jwk: &Value) -> Result<Vec<Key>, SkipReason> {
    use SignatureAlgorithm::{EdDsa, Es256, Es384, Ps256, Rs256};

    if text(jwk, "d").is_some_and(|d| !d.is_empty()) {
        return Err(SkipReason::Private);
    }
    let verifies = |operations: &Value| operations.as_array().is_some_and(|all| all.iter().any(|one| one == "verify"));
    if member(jwk, "use").is_some_and(|usage| usage != "sig") || !member(jwk, "key_ops").is_none_or(verifies) {
        return Err(SkipReason::Use);
    }
    let supported: &[_] = match (text(jwk, "kty"), text(jwk, "crv")) {
        (Some("EC"), Some("P-256")) => &[Es256],
        (Some("EC"), Some("P-384")) => &[Es384],
        (Some("OKP"), Some("Ed25519")) => &[EdDsa],
        (Some("RSA"), _) => &[Rs256, Ps256],
        _ => return Err(SkipReason::Kind),
    };
    let named = match member(jwk, "alg") {
        None => None,
        Some(alg) => Some(alg.as_str().and_then(SignatureAlgorithm::from_name).ok_or(SkipReason::Kind)?),
    };
    let supported: Vec<_> = supported.iter().filter(|fits| named.is_none_or(|named| named == **fits)).collect();
    if supported.is_empty() {
        return Err(SkipReason::Kind);
    }
    supported.into_iter().map(|algorithm| parse_key(jwk, *algorithm)).collect()
}

fn parse_key(jwk: &Value, algorithm: SignatureAlgorithm) -> Result<Key, SkipReason> {
    let octets = |name| text(jwk, name).and_then(decode).ok_or(SkipReason::Malformed);
    let number = |name| octets(name).map(|octets| without_zeros(&octets).to_vec());
    let public = match algorithm {
        SignatureAlgorithm::Es256 => {
            ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point(&number("x")?, &number("y")?, 32)?)
        }
        SignatureAlgorithm::Es384 => {
            ParsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, point(&number("x")?, &number("y")?, 48)?)
        }
        // Checks the length: aws-lc accepts other lengths as other encodings of a key.
        SignatureAlgorithm::EdDsa => {
            let x = <[u8; 32]>::try_from(octets("x")?).map_err(|_| SkipReason::Malformed)?;
            ParsedPublicKey::new(&ED25519, x)
        }
        SignatureAlgorithm::Ps256 => rsa(number("n")?, number("e")?)?.to_parsed_public_key(&RSA_PSS_2048_8192_SHA256),
        SignatureAlgorithm::Rs256 => rsa(number("n")?, number("e")?)?.to_parsed_public_key(&RSA_PKCS1_2048_8192_SHA256),
    };
    let public = public.map_err(|_| SkipReason::Malformed)?;
    // A `kid` that is not a string counts as absent: no token can name it.
    let kid: Option<Box<str>> = jwk.get("kid").map(|kid| kid.as_str().map(Into::into)).unwrap_or_default();
    let mut digest = Sha256::new_with_prefix(algorithm.name());
    digest.update(public.as_ref());
    // The `kid` comes last, with a prefix only if it is present, so it cannot be mistaken for a part of the key.
    digest.update(kid.as_ref().map_or_else(String::new, |kid| format!("kid:{kid}")));
    Ok(Key { kid, algorithm, id: KeyId(digest.finalize().into()), public })
}

/// Returns `number` without leading zeros, which RFC 7518 forbids in `n` and `e` and requires in coordinates. Some issuers
/// add a zero for the sign, others strip zeros.
fn without_zeros(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|octet| **octet == 0).count();
    &number[zeros..]
}

/// Encodes an uncompressed point (SEC 1). aws-lc checks that it is on its curve.
fn point(x: &[u8], y: &[u8], length: usize) -> Result<Vec<u8>, SkipReason> {
    let mut point = vec![4];
    for number in [x, y] {
        let zeros = length.checked_sub(number.len()).ok_or(SkipReason::Malformed)?;
        point.extend(repeat_n(0, zeros).chain(number.iter().copied()));
    }
    Ok(point)
}

/// Checks an RSA key's numbers, so that an unusable key is skipped: aws-lc checks sizes only when it verifies a signature.
fn rsa(n: Vec<u8>, e: Vec<u8>) -> Result<RsaPublicKeyComponents<Vec<u8>>, SkipReason> {
    let is_odd = |number: &[u8]| number.last().is_some_and(|last| last & 1 == 1);
    if !is_odd(&n) || !is_odd(&e) || e == [1] {
        return Err(SkipReason::Malformed);
    }
    let bits = n.len() * 8 - n[0].leading_zeros() as usize;
    if (2048..=8192).contains(&bits) { Ok(RsaPublicKeyComponents { n, e }) } else { Err(SkipReason::Size) }
}

/// Returns a member that has a value. Null and an empty list count as absent: serializers write them for absent values.
fn member<'j>(jwk: &'j Value, name: &str) -> Option<&'j Value> {
    jwk.get(name).filter(|value| !value.is_null() && !value.as_array().is_some_and(Vec::is_empty))
}

fn text<'j>(jwk: &'j Value, name: &str) -> Option<&'j str> {
    jwk.get(name)?.as_str()
}

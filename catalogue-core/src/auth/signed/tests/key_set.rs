//! Key sets: the keys of a set that are used, and the sets that are refused.

use serde_json::{Value, json};

use super::super::SignatureAlgorithm::{self, Es256, Ps256, Rs256};
use super::super::key_set::{KeyId, KeySet, SkipReason};
use super::super::token::decode;
use super::fixture::*;
use super::signature::decode_hex;

/// Points of P-256: multiples of its generator by 379, with a zero octet before x, and by 43, with one before y.
const SHORT_POINTS: [(&str, &str); 2] = [
    (
        "5543894af3d00ed7d740abdbd75c96b06877b787db5f70eea78b90a8d7c00a",
        "bb4c85a3d8ea29efaafa24406912dd84d5b14dc32bf656ef6c6bd58a5d943f92",
    ),
    (
        "986ae2506f1ff104d04230861d8f4b498f4bc4c6d009b30f7544dc129b82d28d",
        "3cccc0a6460e0ae328a4d97d3c7b61d86fc6289c189f2525110c441bb07e97",
    ),
];

fn parse(jwks: Vec<Value>) -> Result<KeySet, String> {
    KeySet::parse(&set(jwks))
}

/// Returns the reason why `jwk` is skipped, in a set that also has a usable key; `None` if it is usable.
fn skip_reason(jwk: &Value) -> Option<SkipReason> {
    let read = parse(vec![ES256.jwk(), jwk.clone()]).unwrap();
    assert_eq!(read.usable + read.skipped.len(), 2, "{jwk}");
    read.skipped.first().map(|skipped| skipped.1)
}

fn id(jwk: &Value, algorithm: SignatureAlgorithm) -> KeyId {
    parse(vec![jwk.clone()]).unwrap().candidates(None, algorithm).next().unwrap().id
}

/// Returns `number` of a JWK with `zeros` octets before it.
fn pad(number: &Value, zeros: usize) -> String {
    let number = decode(number.as_str().unwrap()).unwrap();
    base64([vec![0; zeros], number].concat())
}

#[test]
fn all_supported_key_types_are_parsed() {
    // The RSA key is for two algorithms.
    let every = KeySet::parse(&every_key()).unwrap();
    let supported = SignatureAlgorithm::ALL.iter().filter(|alg| every.candidates(None, **alg).count() == 1);
    assert_eq!((every.usable, supported.count()), (4, 5));
}

/// Serializers write null and empty lists for absent values.
#[test]
fn null_and_empty_list_count_as_absent() {
    for signer in [&*ES256, &ES384, &ED25519, &RSA] {
        for absent in [json!(null), json!([])] {
            let mut jwk = signer.jwk();
            for name in ["use", "alg", "key_ops", "d", "p", "x5c", "x5t", "kid"] {
                jwk[name] = absent.clone();
            }
            assert_eq!(skip_reason(&jwk), None, "{jwk}");
            jwk["kty"] = absent.clone();
            assert_eq!(skip_reason(&jwk), Some(SkipReason::Kind));
        }
    }
}

/// Some issuers write zeros before a number, such as one zero for its sign.
#[test]
fn leading_zeros_of_numbers_are_ignored() {
    let rsa = RSA.jwk();
    for zeros in [1, 2, 300] {
        let padded = patch(rsa.clone(), &json!({ "n": pad(&rsa["n"], zeros), "e": pad(&rsa["e"], zeros) }));
        assert_eq!(id(&padded, Rs256), id(&rsa, Rs256), "the same key");
        Fixture::with_set(set([padded])).accepts(&RSA.token(&RSA.header(), &claims()));
    }
    for signer in [&*ES256, &ES384] {
        let jwk = signer.jwk();
        let padded = patch(jwk.clone(), &json!({ "x": pad(&jwk["x"], 1), "y": pad(&jwk["y"], 2) }));
        Fixture::with_set(set([padded])).accepts(&signer.token(&signer.header(), &claims()));
    }
}

/// Some issuers strip leading zeros of coordinates, although RFC 7518 forbids it. One in 128 keys has such a zero.
#[test]
fn coordinate_without_leading_zeros_is_accepted() {
    for (x, y) in SHORT_POINTS {
        let [x, y] = [x, y].map(decode_hex);
        assert!(x.len() == 31 || y.len() == 31);
        let jwk = json!({ "kty": "EC", "crv": "P-256", "x": base64(&x), "y": base64(&y) });
        let whole = json!({ "x": pad(&jwk["x"], 32 - x.len()), "y": pad(&jwk["y"], 32 - y.len()) });
        assert_eq!(id(&jwk, Es256), id(&patch(jwk.clone(), &whole), Es256));
    }
}

#[test]
fn unusable_keys_are_skipped_with_reason() {
    let (ec, ed, rsa) = (ES256.jwk(), ED25519.jwk(), RSA.jwk());
    let cut = |jwk: &Value, name: &str| json!({ name: jwk[name].as_str().unwrap()[4..] });
    let [x, y] = ["x", "y"].map(|name| decode(ec[name].as_str().unwrap()).unwrap());
    let modulus = |bytes: usize| base64([vec![0x80], vec![1; bytes - 1]].concat());
    let (private, kind, usage) = (Some(SkipReason::Private), Some(SkipReason::Kind), Some(SkipReason::Use));
    let (malformed, size) = (Some(SkipReason::Malformed), Some(SkipReason::Size));
    for (jwk, other, reason) in [
        (&ec, json!({ "use": "sig", "key_ops": ["sign", "verify"], "alg": "ES256", "x5c": ["x"], "more": {} }), None),
        (&ec, json!({ "kid": 7 }), None),
        (&ec, json!({ "d": 1 }), None),
        (&ec, json!({ "d": "" }), None),
        (&ec, json!({ "d": "secret" }), private),
        (&ec, json!({ "crv": "P-521" }), kind),
        (&ec, json!({ "crv": "secp256k1" }), kind),
        (&ec, json!({ "crv": null }), kind),
        (&ec, json!({ "kty": null }), kind),
        (&ec, json!({ "alg": "ES384" }), kind),
        (&ec, json!({ "alg": "ECDH-ES" }), kind),
        (&ec, json!({ "alg": 1 }), kind),
        (&ec, json!({ "use": "enc" }), usage),
        (&ec, json!({ "use": 1 }), usage),
        (&ec, json!({ "key_ops": ["sign"] }), usage),
        (&ec, json!({ "key_ops": "verify" }), usage),
        // Points that are off the curve.
        (&ec, json!({ "x": ec["y"], "y": ec["x"] }), malformed),
        (&ec, json!({ "x": base64([0; 32]), "y": base64([0; 32]) }), malformed),
        (&ec, cut(&ec, "x"), malformed),
        (&ec, json!({ "y": null }), malformed),
        // The point is on the curve, but split at the wrong byte.
        (&ec, json!({ "x": base64(&x[..31]), "y": base64([&x[31..], &y].concat()) }), malformed),
        (&ec, json!({ "x": format!("{}=", ec["x"].as_str().unwrap()) }), malformed),
        (&ec, json!({ "crv": "P-384" }), malformed),
        (&ed, json!({ "alg": "Ed25519" }), None),
        (&ed, json!({ "crv": "X25519" }), kind),
        (&ed, cut(&ed, "x"), malformed),
        // `x` of Ed25519 is a byte string and not a number.
        (&ed, json!({ "x": pad(&ed["x"], 1) }), malformed),
        (&rsa, json!({ "alg": "RS256" }), None),
        (&rsa, json!({ "alg": "PS256" }), None),
        (&rsa, json!({ "e": base64([3]) }), None),
        (&rsa, json!({ "n": modulus(256) }), None),
        (&rsa, json!({ "n": modulus(1024) }), None),
        (&rsa, json!({ "d": "x", "use": "enc" }), private),
        (&rsa, json!({ "alg": "RS512" }), kind),
        (&rsa, json!({ "alg": "ES256" }), kind),
        (&rsa, json!({ "n": base64([vec![0x80], vec![2; 255]].concat()) }), malformed),
        (&rsa, json!({ "n": "" }), malformed),
        (&rsa, json!({ "e": base64([2]) }), malformed),
        (&rsa, json!({ "e": base64([1]) }), malformed),
        (&rsa, json!({ "e": base64([0, 1]) }), malformed),
        (&rsa, json!({ "e": "" }), malformed),
        (&rsa, json!({ "e": null }), malformed),
        (&rsa, json!({ "n": modulus(128) }), size),
        (&rsa, json!({ "n": base64([vec![0x7f], vec![1; 255]].concat()) }), size),
        (&rsa, json!({ "n": base64([vec![0; 128], vec![1; 128]].concat()) }), size),
        (&rsa, json!({ "n": base64([vec![1], vec![1; 1024]].concat()) }), size),
    ] {
        assert_eq!(skip_reason(&patch(jwk.clone(), &other)), reason, "{other} {jwk}");
    }
    for jwk in [json!({ "kty": "oct", "k": "c2VjcmV0", "kid": "secret" }), json!("a text"), json!([])] {
        assert_eq!(skip_reason(&jwk), kind, "{jwk}");
    }
}

#[test]
fn key_set_must_be_valid_and_within_limits() {
    let keys = |number: usize| vec![ES256.jwk(); number];
    assert_eq!(parse(keys(100)).unwrap().usable, 100);
    assert_eq!(parse(keys(101)).unwrap_err(), "the key set has more than 100 keys");
    assert_eq!(parse(vec![]).unwrap_err(), "the key set has no usable key");
    let error =
        parse(vec![json!({ "kty": "oct", "k": "AA" }), patch(ES384.jwk(), &json!({ "d": "secret" }))]).unwrap_err();
    let (one, other) = ("key without a kid: unsupported type, curve or algorithm", r#""es384": private key"#);
    assert_eq!(error, format!("the key set has no usable key; {one}; {other}"));
    for (json, why) in [
        ("null", "expected an object with an array `keys`"),
        ("[]", "expected an object with an array `keys`"),
        ("{}", "expected an object with an array `keys`"),
        (r#"{"keys":{}}"#, "expected an object with an array `keys`"),
        (r#"{"keys":1}"#, "expected an object with an array `keys`"),
        ("", "invalid JSON"),
        ("<html>", "invalid JSON"),
        (r#"{"keys":[]"#, "invalid JSON"),
        (r#"{"keys":[],"more":1e999}"#, "invalid JSON"),
    ] {
        let error = KeySet::parse(json.as_bytes()).unwrap_err();
        assert!(error.contains(why), "{json}: {error}");
        assert_eq!(error.contains("line 1 column"), why == "invalid JSON", "{json}: {error}");
    }
    let filled = |bytes: usize| {
        let set = set_of(&[&ES256]);
        [&set[..], &vec![b' '; bytes - set.len()]].concat()
    };
    assert_eq!(KeySet::parse(&filled(256 << 10)).unwrap().usable, 1);
    assert_eq!(KeySet::parse(&filled((256 << 10) + 1)).unwrap_err(), "the key set has more than 262144 bytes");
}

#[test]
fn kids_missing_from_another_set_are_listed() {
    let (old, new) = (parse(vec![ES256.jwk(), ES384.jwk()]).unwrap(), parse(vec![ES384.jwk()]).unwrap());
    assert_eq!(old.kids_without(Some(&new)), ["es256"]);
    assert_eq!(new.kids_without(Some(&old)), [""; 0]);
    assert_eq!(new.kids_without(None), ["es384"]);
}

/// A key with another `kid` or algorithm has another id, so cached tokens of the earlier key are no longer valid.
#[test]
fn key_id_is_stable_across_sets() {
    let first = id(&ES256.jwk(), Es256);
    assert_eq!(id(&patch(ES256.jwk(), &json!({ "use": "sig" })), Es256), first);
    assert_ne!(id(&patch(ES256.jwk(), &json!({ "kid": "x" })), Es256), first);
    assert_ne!(id(&patch(ES256.jwk(), &json!({ "kid": null })), Es256), first);
    assert_ne!(id(&patch(OTHER_ES256.jwk(), &json!({ "kid": "es256" })), Es256), first);
    assert_ne!(id(&RSA.jwk(), Rs256), id(&RSA.jwk(), Ps256));
}

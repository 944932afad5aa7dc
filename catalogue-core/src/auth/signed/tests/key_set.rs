//! Key sets: the keys of a set that are used, and the sets that are refused.

use serde_json::{Value, json};

use super::super::SignatureAlgorithm;
use super::super::key_set::{KeySet, SkipReason};
use super::super::token::decode;
use super::fixture::*;

/// Points of P-256 in hexadecimal: one with a short x, and one with a short y.
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

/// Returns the reason why `jwk` is skipped, in a set that also has a usable key.
#[track_caller]
fn skip_reason(jwk: Value) -> SkipReason {
    let read = parse(vec![ES256.jwk(), jwk]).unwrap();
    assert_eq!(read.usable, 1);
    assert_eq!(read.skipped.len(), 1);
    read.skipped[0].1
}

#[test]
fn all_supported_key_types_are_parsed() {
    // The RSA key is for two algorithms.
    let every = KeySet::parse(&every_key()).unwrap();
    assert_eq!(
        (every.usable, SignatureAlgorithm::ALL.iter().filter(|alg| every.candidates(None, **alg).count() == 1).count()),
        (4, 5)
    );
    for alg in ["RS256", "PS256"] {
        assert_eq!(parse(vec![patch(RSA.jwk(), &json!({ "alg": alg }))]).unwrap().usable, 1);
    }
    for more in [
        json!({ "use": "sig", "key_ops": ["sign", "verify"], "alg": "ES256", "x5c": ["x"], "more": {} }),
        json!({ "kid": 7 }),
        json!({ "d": 1 }),
        json!({ "d": "" }),
    ] {
        assert_eq!(parse(vec![patch(ES256.jwk(), &more)]).unwrap().usable, 1);
    }
    assert_eq!(parse(vec![patch(ED25519.jwk(), &json!({ "alg": "Ed25519" }))]).unwrap().usable, 1);
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
            let read = parse(vec![jwk.clone()]).unwrap();
            assert_eq!((read.usable, read.skipped.len()), (1, 0), "{jwk}");
            jwk["kty"] = absent.clone();
            assert_eq!(skip_reason(jwk), SkipReason::Kind);
        }
    }
}

/// Some issuers write zeros before a number, such as one zero for its sign.
#[test]
fn leading_zeros_of_numbers_are_ignored() {
    let zeros = |number: &Value, zeros: usize| {
        let number = decode(number.as_str().unwrap()).unwrap();
        base64([vec![0; zeros], number].concat())
    };
    let id = |jwk: Value| parse(vec![jwk]).unwrap().candidates(None, SignatureAlgorithm::Rs256).next().unwrap().id;
    let rsa = RSA.jwk();
    for count in [1, 2, 300] {
        let padded = patch(rsa.clone(), &json!({ "n": zeros(&rsa["n"], count), "e": zeros(&rsa["e"], count) }));
        assert_eq!(id(padded.clone()), id(rsa.clone()), "the same key");
        let fixture = Fixture::with_behavior(Behavior::Set(set([padded])), |builder| builder);
        fixture.accepts(&RSA.token(&RSA.header(), &claims()));
    }
    assert_eq!(skip_reason(patch(rsa, &json!({ "e": base64([0, 1]) }))), SkipReason::Malformed);
    for signer in [&*ES256, &ES384] {
        let jwk = signer.jwk();
        let padded = patch(jwk.clone(), &json!({ "x": zeros(&jwk["x"], 1), "y": zeros(&jwk["y"], 2) }));
        let fixture = Fixture::with_behavior(Behavior::Set(set([padded])), |builder| builder);
        fixture.accepts(&signer.token(&signer.header(), &claims()));
    }
    let ed = ED25519.jwk();
    assert_eq!(
        skip_reason(patch(ed.clone(), &json!({ "x": zeros(&ed["x"], 1) }))),
        SkipReason::Malformed,
        "`x` of Ed25519 is a byte string and not a number"
    );
}

/// Some issuers strip leading zeros of coordinates, although RFC 7518 forbids it. One in 128 keys has such a zero.
#[test]
fn coordinate_without_leading_zeros_is_accepted() {
    // Multiples of P-256's generator: by 379, with a zero octet before x, and by 43, with one before y.
    for (x, y) in SHORT_POINTS {
        let number = |hex: &str| {
            let octets =
                hex.as_bytes().chunks(2).map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap());
            octets.collect::<Vec<_>>()
        };
        let [x, y] = [x, y].map(number);
        assert!(x.len() == 31 || y.len() == 31);
        let jwk = json!({ "kty": "EC", "crv": "P-256", "x": base64(&x), "y": base64(&y) });
        let whole = |number: &[u8]| base64([vec![0; 32 - number.len()], number.to_vec()].concat());
        let id = |jwk: &Value| {
            parse(vec![jwk.clone()]).unwrap().candidates(None, SignatureAlgorithm::Es256).next().unwrap().id
        };
        assert_eq!(id(&jwk), id(&patch(jwk.clone(), &json!({ "x": whole(&x), "y": whole(&y) }))));
    }
}

#[test]
fn keys_of_unsupported_type_or_use_are_skipped() {
    for jwk in [
        json!({ "kty": "oct", "k": "c2VjcmV0", "kid": "secret" }),
        json!({ "kty": "OKP", "crv": "X25519", "x": ED25519.jwk()["x"] }),
        json!({ "kty": "EC", "crv": "secp256k1", "x": "AA", "y": "AA" }),
        patch(ES256.jwk(), &json!({ "crv": "P-521" })),
        patch(ES256.jwk(), &json!({ "crv": null })),
        patch(ES256.jwk(), &json!({ "kty": null })),
        patch(ES256.jwk(), &json!({ "alg": "ES384" })),
        patch(ES256.jwk(), &json!({ "alg": "ECDH-ES" })),
        patch(ES256.jwk(), &json!({ "alg": 1 })),
        patch(RSA.jwk(), &json!({ "alg": "RS512" })),
        patch(RSA.jwk(), &json!({ "alg": "ES256" })),
        json!("a text"),
        json!([]),
    ] {
        assert_eq!(skip_reason(jwk.clone()), SkipReason::Kind, "{jwk}");
    }
    for other in
        [json!({ "use": "enc" }), json!({ "use": 1 }), json!({ "key_ops": ["sign"] }), json!({ "key_ops": "verify" })]
    {
        assert_eq!(skip_reason(patch(ES384.jwk(), &other)), SkipReason::Use, "{other}");
    }
}

#[test]
fn malformed_keys_are_skipped() {
    let (ec, rsa) = (ES256.jwk(), RSA.jwk());
    let cut = |jwk: &Value, name: &str| json!({ name: jwk[name].as_str().unwrap()[4..] });
    let [x, y] = ["x", "y"].map(|name| decode(ec[name].as_str().unwrap()).unwrap());
    let modulus = |bytes: usize| base64([vec![0x80], vec![1; bytes - 1]].concat());
    for jwk in [
        // Points that are off the curve.
        patch(ec.clone(), &json!({ "x": ec["y"], "y": ec["x"] })),
        patch(ec.clone(), &json!({ "x": base64([0; 32]), "y": base64([0; 32]) })),
        patch(ec.clone(), &cut(&ec, "x")),
        patch(ec.clone(), &json!({ "y": null })),
        // The point is on the curve, but split at the wrong byte.
        patch(ec.clone(), &json!({ "x": base64(&x[..31]), "y": base64([&x[31..], &y].concat()) })),
        patch(ec.clone(), &json!({ "x": format!("{}=", ec["x"].as_str().unwrap()) })),
        patch(ec, &json!({ "crv": "P-384" })),
        patch(ED25519.jwk(), &cut(&ED25519.jwk(), "x")),
        patch(rsa.clone(), &json!({ "n": base64([vec![0x80], vec![2; 255]].concat()) })),
        patch(rsa.clone(), &json!({ "n": "" })),
        patch(rsa.clone(), &json!({ "e": base64([2]) })),
        patch(rsa.clone(), &json!({ "e": base64([1]) })),
        patch(rsa.clone(), &json!({ "e": "" })),
        patch(rsa.clone(), &json!({ "e": null })),
    ] {
        assert_eq!(skip_reason(jwk.clone()), SkipReason::Malformed, "{jwk}");
    }
    for n in [
        modulus(128),
        base64([vec![0x7f], vec![1; 255]].concat()),
        base64([vec![0; 128], vec![1; 128]].concat()),
        base64([vec![1], vec![1; 1024]].concat()),
    ] {
        assert_eq!(skip_reason(patch(rsa.clone(), &json!({ "n": n }))), SkipReason::Size);
    }
    assert_eq!(parse(vec![patch(rsa.clone(), &json!({ "e": base64([3]) }))]).unwrap().usable, 1);
    for bytes in [256, 1024] {
        assert_eq!(parse(vec![patch(rsa.clone(), &json!({ "n": modulus(bytes) }))]).unwrap().usable, 1);
    }
}

#[test]
fn private_key_is_skipped() {
    let read = parse(vec![ES256.jwk(), patch(ES384.jwk(), &json!({ "d": "secret" }))]).unwrap();
    assert_eq!(read.skipped, [(Some("es384".into()), SkipReason::Private)]);
    assert_eq!(skip_reason(patch(RSA.jwk(), &json!({ "d": "x", "use": "enc" }))), SkipReason::Private);
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
    assert_eq!(error.to_string(), format!("the key set has no usable key; {one}; {other}"));
    for json in ["null", "[]", "{}", r#"{"keys":{}}"#, r#"{"keys":1}"#] {
        assert!(
            KeySet::parse(json.as_bytes()).unwrap_err().contains("expected an object with an array `keys`"),
            "{json}"
        );
    }
    for json in ["", "<html>", r#"{"keys":[]"#, r#"{"keys":[],"more":1e999}"#] {
        let error = KeySet::parse(json.as_bytes()).unwrap_err();
        assert!(error.contains("invalid JSON") && error.contains("line 1 column"), "{error}");
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
    let id = |jwk: Value, alg| {
        let set = parse(vec![jwk]).unwrap();
        let mut keys = set.candidates(None, alg);
        keys.next().unwrap().id
    };
    use super::super::SignatureAlgorithm::{Es256, Ps256, Rs256};
    let first = id(ES256.jwk(), Es256);
    assert_eq!(id(patch(ES256.jwk(), &json!({ "use": "sig" })), Es256), first);
    assert_ne!(id(patch(ES256.jwk(), &json!({ "kid": "x" })), Es256), first);
    assert_ne!(id(patch(ES256.jwk(), &json!({ "kid": null })), Es256), first);
    assert_ne!(id(patch(OTHER_ES256.jwk(), &json!({ "kid": "es256" })), Es256), first);
    assert_ne!(id(RSA.jwk(), Rs256), id(RSA.jwk(), Ps256));
}

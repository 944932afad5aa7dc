//! A key set (decisions O13 and O21): any bytes that an issuer may send.

use bytes::Bytes;
use catalogue_core::auth::Verdict;
use catalogue_core::auth::signed::SignedTokens;
use serde_json::{Value, json};

use super::call::block_on;
use super::signers::{AUDIENCE, ISSUER, VALID_PAYLOAD, jwk, token, verdict};

/// Id of a key that no input can contain: the key is generated when the program starts.
const OWN_KID: &str = "ed-of-this-run";
const MAX_BYTES: usize = 256 << 10;
const MAX_KEYS: usize = 100;

pub(super) fn check(input: &[u8]) {
    let tokens = tokens_with(input.to_vec());
    block_on(tokens.refresh());
    let status = tokens.keys();
    let set: Option<Value> = serde_json::from_slice(input).ok().filter(|_| input.len() <= MAX_BYTES);
    let Some(keys) = set.as_ref().and_then(|set| set.get("keys")?.as_array()).filter(|it| it.len() <= MAX_KEYS) else {
        assert_eq!((status.usable, status.fetched, status.failed), (0, 0, 1));
        return;
    };
    assert_eq!(status.usable > 0, status.fetched == 1, "{status:?}");
    if status.usable > 0 {
        let used = keys.len() - tokens.skipped_keys().len();
        assert!((used..=2 * used).contains(&status.usable), "{status:?}");
    }
    check_with_own_key(keys);
}

/// Asserts that no key of a set blocks another key, or lets a token be accepted that it has not signed.
fn check_with_own_key(others: &[Value]) {
    let mut keys = others.to_vec();
    keys.insert(0, jwk(OWN_KID));
    let is_small = keys.len() <= MAX_KEYS;
    let set = json!({ "keys": keys }).to_string();
    let is_small = is_small && set.len() <= MAX_BYTES;
    let tokens = tokens_with(set.into_bytes());
    block_on(tokens.refresh());
    if !is_small {
        assert_eq!(tokens.keys().usable, 0);
        return;
    }
    assert!(is_accepted(&tokens, Some(OWN_KID)));
    assert!(is_accepted(&tokens, None));
    let kids = others.iter().filter_map(|key| key.get("kid")?.as_str()).filter(|kid| *kid != OWN_KID);
    for kid in kids.take(3) {
        assert!(!is_accepted(&tokens, Some(kid)), "{kid:?}");
    }
}

fn is_accepted(tokens: &SignedTokens, kid: Option<&str>) -> bool {
    let mut header = json!({ "alg": "EdDSA", "typ": "at+jwt" });
    if let Some(kid) = kid {
        header["kid"] = kid.into();
    }
    let text = token(header.to_string().as_bytes(), VALID_PAYLOAD, "EdDSA");
    matches!(verdict(tokens, &text), Verdict::Accepted(_))
}

fn tokens_with(set: Vec<u8>) -> SignedTokens {
    SignedTokens::builder(ISSUER, AUDIENCE, Bytes::from(set)).build().unwrap()
}

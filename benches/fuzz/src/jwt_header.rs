//! The header of a signed token (decisions O8 to O13): any text, in an otherwise valid token.

use std::sync::LazyLock;

use catalogue_core::auth::Verdict;
use catalogue_core::auth::signed::SignedTokens;
use serde_json::Value;

use super::signers::{VALID_PAYLOAD, kid_of, token, tokens, verdict, verify_with_jsonwebtoken};

static TOKENS: LazyLock<SignedTokens> = LazyLock::new(|| tokens(|builder| builder));

const ALGORITHMS: [&str; 6] = ["ES256", "ES384", "EdDSA", "Ed25519", "PS256", "RS256"];

pub(super) fn check(input: &[u8]) {
    // serde_json may reject members that the catalogue ignores.
    let header: Option<Value> = serde_json::from_slice(input).ok();
    let member = |name: &str| header.as_ref().and_then(|header| header.get(name)?.as_str()).unwrap_or_default();
    let algorithm = member("alg");
    let text = token(input, VALID_PAYLOAD, algorithm);
    let found = verdict(&TOKENS, &text);
    assert_eq!(verdict(&TOKENS, &text), found);
    if !matches!(found, Verdict::Accepted(_)) {
        return;
    }
    if let Some(header) = &header {
        let typ = member("typ").to_ascii_lowercase();
        let is_kid = header
            .get("kid")
            .is_none_or(|kid| kid.is_null() || *kid == Value::Array(Vec::new()) || kid == kid_of(algorithm));
        let is_valid = ["at+jwt", "application/at+jwt"].contains(&&*typ) && ALGORITHMS.contains(&algorithm) && is_kid;
        assert!(is_valid && header.get("crit").is_none(), "{header}");
    }
    // jsonwebtoken does not know the name from RFC 9864.
    if algorithm != "Ed25519" && serde_json::from_slice::<jsonwebtoken::Header>(input).is_ok() {
        let claims = verify_with_jsonwebtoken(&text, algorithm);
        assert!(claims.is_ok(), "{claims:?} {text}");
    }
    check_variants(&text);
}

/// Asserts that a token has only one text: with padding, stray bits, another letter or an extra part it is invalid.
fn check_variants(text: &str) {
    let (front, last) = text.split_at(text.len() - 1);
    let at = text.len() / 3 * 2;
    let other = if text.as_bytes()[at] == b'A' { "B" } else { "A" };
    let mut altered = text.to_owned();
    altered.replace_range(at..=at, other);
    let mut variants =
        vec![altered, format!("{text}="), format!("{text}=="), format!("{text}."), format!("{text}.e30")];
    variants.extend("ABCDQgw_".chars().filter(|c| !last.starts_with(*c)).map(|c| format!("{front}{c}")));
    for variant in variants {
        let found = verdict(&TOKENS, &variant);
        assert!(!matches!(found, Verdict::Accepted(_)), "{variant}");
    }
}

//! The header of a signed token (decisions O8 to O13): any text, in a token that is right but for it.

use std::sync::LazyLock;

use catalogue_core::auth::Verdict;
use catalogue_core::auth::signed::SignedTokens;
use serde_json::Value;

use super::signers::{AUDIENCE, Bad, ISSUER, Object, kid_of, second_opinion, token, tokens, verdict};

static TOKENS: LazyLock<SignedTokens> = LazyLock::new(|| tokens(|builder| builder));

const ALGORITHMS: [&str; 6] = ["ES256", "ES384", "EdDSA", "Ed25519", "PS256", "RS256"];

pub fn check(input: &[u8]) {
    let payload = format!(
        r#"{{"iss":"{ISSUER}","aud":"{AUDIENCE}","sub":"acc_1","client_id":"c","jti":"j","iat":1,"exp":4102444800}}"#
    );
    let header = Object::read(input);
    let alg = header.as_ref().and_then(|header| header.member("alg").ok()?).unwrap_or_default();
    let algorithm = alg.as_str().unwrap_or_default().to_owned();
    let text = token(input, payload.as_bytes(), &algorithm);
    let found = verdict(&TOKENS, &text);
    let is_accepted = matches!(found, Verdict::Accepted(_));
    let is_right = header.is_some_and(|header| is_right(&header) == Ok(true)) && text.len() <= 8192;
    assert_eq!(is_accepted, is_right, "{found:?} {:?}", String::from_utf8_lossy(input));
    assert_eq!(verdict(&TOKENS, &text), found);
    if is_accepted {
        // RFC 9864's name is not known there, and members that are not read here have types.
        let claims = second_opinion(&text, &algorithm);
        let is_readable = algorithm != "Ed25519" && serde_json::from_slice::<jsonwebtoken::Header>(input).is_ok();
        assert!(!is_readable || claims.is_ok(), "{claims:?} {text}");
        check_variants(&text);
    }
}

fn is_right(header: &Object) -> Result<bool, Bad> {
    let [typ, alg, kid] = [header.member("typ")?, header.member("alg")?, header.member("kid")?];
    let (Some(Value::String(typ)), Some(Value::String(alg)), false) = (typ, alg, header.has("crit")) else {
        return Ok(false);
    };
    let is_kid = kid.is_none_or(|kid| kid == kid_of(&alg));
    let typ = typ.to_ascii_lowercase();
    Ok((typ == "at+jwt" || typ == "application/at+jwt") && ALGORITHMS.contains(&&*alg) && is_kid)
}

/// A token has one text: with padding, stray bits, another letter or a part more it is none.
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

//! Syntax of signed tokens. Texts with another syntax are left to other authenticators, and refused if there are none.

use serde_json::json;

use super::super::UnverifiedToken;
use super::super::token::{MAX_BYTES, looks_like_jwt};
use super::fixture::*;
use crate::auth::BearerToken;

#[test]
fn malformed_token_is_not_recognized() {
    let fixture = Fixture::new();
    let token = with_claims(&json!({}));
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let (header, payload) = signed.split_once('.').unwrap();
    for (name, text) in [
        ("padding", format!("{token}==")),
        ("a plus", format!("{signed}.+{}", &signature[1..])),
        ("a slash", format!("{signed}./{}", &signature[1..])),
        ("a tilde", format!("{signed}.~{}", &signature[1..])),
        ("a third dot", format!("{token}.")),
        ("a fourth dot", format!("{token}.x.y")),
        ("a dot at the beginning", format!(".{token}")),
        ("no header", format!(".{payload}.{signature}")),
        ("no payload", format!("{header}..{signature}")),
        ("a header that is not JSON", format!("{}.{payload}.{signature}", base64("at+jwt"))),
        ("a list as header", format!("{}.{payload}.{signature}", base64(r#"[["alg","none"]]"#))),
        ("a text as payload", format!("{header}.{}.{signature}", base64(r#""iss""#))),
        ("a number as payload", format!("{header}.{}.{signature}", base64("9".repeat(3000)))),
        ("text after the header's object", format!("{}.{payload}.{signature}", base64("{} {}"))),
        ("a header that is not UTF-8", format!("{}.{payload}.{signature}", base64(b"{\"alg\":\"\xff\"}"))),
        ("a byte order mark", format!("{}.{payload}.{signature}", base64("\u{feff}{}"))),
        ("an impossible base64 length", format!("{signed}.{}", &signature[..signature.len() - 1])),
    ] {
        fixture.ignores(name, &text, Some("form"));
    }
    for opaque in ["cato_x", "a.b", "secret", &header.repeat(2)] {
        fixture.ignores(opaque, opaque, None);
    }
    assert_eq!(fixture.source.count(), 0);
    fixture.accepts(&token);
}

/// A token must have only one valid text, because its id is a digest of the text (decision A10).
#[test]
fn stray_base64_bits_are_not_recognized() {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let fixture = Fixture::new();
    let token = with_claims(&json!({}));
    let parts: Vec<_> = token.split('.').collect();
    let mut changed_parts = 0;
    for (at, part) in parts.iter().enumerate().filter(|(_, part)| part.len() % 4 != 0) {
        let last = ALPHABET.iter().position(|&byte| byte == *part.as_bytes().last().unwrap()).unwrap();
        let stray = format!("{}{}", &part[..part.len() - 1], char::from(ALPHABET[last + 1]));
        let mut changed = parts.clone();
        changed[at] = &stray;
        fixture.ignores("stray bits", &changed.join("."), Some("form"));
        changed_parts += 1;
    }
    assert!(changed_parts > 0);
}

#[test]
fn bearer_token_excludes_invalid_header_characters() {
    let token = with_claims(&json!({}));
    for bad in [" ", "\t", "\r\n", "\n", "%2E", "\u{b7}", "=a", ","] {
        assert!(BearerToken::new(&format!("{token}{bad}{token}")).is_none(), "{bad:?}");
    }
}

#[test]
fn overlong_token_is_refused_without_parsing() {
    let fixture = Fixture::new();
    let longest_within = |length: usize| {
        let mut padding = length;
        loop {
            let token = with_claims(&json!({ "padding": "x".repeat(padding) }));
            if token.len() <= length {
                break token;
            }
            padding -= (token.len() - length).div_ceil(2);
        }
    };
    let longest = longest_within(MAX_BYTES);
    assert!(longest.len() > MAX_BYTES - 4);
    fixture.accepts(&longest);
    // Three parts, each of which is invalid.
    let garbage = format!("{}.b.c", "a".repeat(MAX_BYTES - 3));
    assert_eq!(garbage.len(), MAX_BYTES + 1);
    fixture.refuses("too long", &garbage, "length");
    fixture.ignores("not too long", &garbage[1..], Some("form"));
    fixture.ignores("long and opaque", &"a".repeat(MAX_BYTES + 1), None);
    fixture.refuses("long", &longest_within(MAX_BYTES + 8), "length");
}

#[test]
fn unverified_token_has_members_as_json() {
    let payload = r#"{"aud":["a"],"exp":1,"name":"Anna \ud83d","jti":"a","jti":"a","scp":[]}"#;
    let token = ES256.token_of(r#"{"alg":"none"}"#, payload);
    let token = UnverifiedToken::of(BearerToken::new(&token).unwrap()).unwrap();
    assert_eq!([token.header("alg"), token.header("kid")], [r#""none""#, "null"]);
    let claims = ["aud", "exp", "name", "jti", "scp", "alg"].map(|name| token.claim(name));
    let unreadable = "(repeated or not readable)";
    assert_eq!(claims, [r#"["a"]"#, "1", unreadable, unreadable, "null", "null"]);
    assert!(UnverifiedToken::of(BearerToken::new("a.b.c").unwrap()).is_none());
}

/// Revocations are looked up only for texts that look like a JWT, so every valid token must do so (decision O29).
#[test]
fn looks_like_jwt_checks_only_parts_and_characters() {
    assert!(looks_like_jwt(&with_claims(&json!({}))) && looks_like_jwt("..") && looks_like_jwt("a.b.c"));
    for text in ["", ".", "a.b", "a.b.c.d", "a.b.c=", "a.b.c+", "a.b. c", "a.b.\u{e9}", "ccat_x"] {
        assert!(!looks_like_jwt(text), "{text}");
    }
}

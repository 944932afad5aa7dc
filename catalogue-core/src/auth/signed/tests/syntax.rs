//! The form of signed tokens. Other texts are left to other authenticators, and so refused if there are none.

use serde_json::json;

use super::super::token::{MAX_BYTES, looks_like_jwt};
use super::fixture::*;
use crate::auth::BearerToken;

#[test]
fn a_text_of_another_form_is_left_to_others() {
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
        ("no JSON in the header", format!("{}.{payload}.{signature}", base64("at+jwt"))),
        ("a list as header", format!("{}.{payload}.{signature}", base64(r#"[["alg","none"]]"#))),
        ("a text as payload", format!("{header}.{}.{signature}", base64(r#""iss""#))),
        ("a number as payload", format!("{header}.{}.{signature}", base64("9".repeat(3000)))),
        ("more behind the header", format!("{}.{payload}.{signature}", base64("{} {}"))),
        ("no UTF-8", format!("{}.{payload}.{signature}", base64(b"{\"alg\":\"\xff\"}"))),
        ("a mark of order", format!("{}.{payload}.{signature}", base64("\u{feff}{}"))),
        ("a length that base64 has not", format!("{signed}.{}", &signature[..signature.len() - 1])),
    ] {
        fixture.leaves(name, &text, Some("form"));
    }
    for opaque in ["cato_x", "a.b", "secret", &header.repeat(2)] {
        fixture.leaves(opaque, opaque, None);
    }
    assert_eq!(fixture.source.fetches(), 0);
    fixture.accepted(&token);
}

/// So a token has only one text, and one id of decision A10.
#[test]
fn bits_that_mean_nothing_are_none() {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let fixture = Fixture::new();
    let token = with_claims(&json!({}));
    let parts: Vec<_> = token.split('.').collect();
    let mut tried = 0;
    for (at, part) in parts.iter().enumerate().filter(|(_, part)| part.len() % 4 != 0) {
        let last = ALPHABET.iter().position(|&byte| byte == *part.as_bytes().last().unwrap()).unwrap();
        let stray = format!("{}{}", &part[..part.len() - 1], char::from(ALPHABET[last + 1]));
        let mut other = parts.clone();
        other[at] = &stray;
        fixture.leaves("stray bits", &other.join("."), Some("form"));
        tried += 1;
    }
    assert!(tried > 0);
}

#[test]
fn what_a_header_cannot_carry_is_no_bearer_token() {
    let token = with_claims(&json!({}));
    for bad in [" ", "\t", "\r\n", "\n", "%2E", "\u{b7}", "=a", ","] {
        assert!(BearerToken::new(&format!("{token}{bad}{token}")).is_none(), "{bad:?}");
    }
}

#[test]
fn a_long_token_is_refused_and_nothing_of_it_read() {
    let fixture = Fixture::new();
    let of_length = |length: usize| {
        let mut filling = length;
        loop {
            let token = with_claims(&json!({ "filling": "x".repeat(filling) }));
            if token.len() <= length {
                break token;
            }
            filling -= (token.len() - length).div_ceil(2);
        }
    };
    let longest = of_length(MAX_BYTES);
    assert!(longest.len() > MAX_BYTES - 4);
    fixture.accepted(&longest);
    // Three parts that are not valid.
    let garbage = format!("{}.b.c", "a".repeat(MAX_BYTES - 3));
    assert_eq!(garbage.len(), MAX_BYTES + 1);
    fixture.refuses("too long", &garbage, "length");
    fixture.leaves("not too long", &garbage[1..], Some("form"));
    fixture.leaves("long and opaque", &"a".repeat(MAX_BYTES + 1), None);
    fixture.refuses("long", &of_length(MAX_BYTES + 8), "length");
}

/// Every accepted token has the form that its revocation is looked up by (decision O29).
#[test]
fn the_form_is_told_without_decoding() {
    assert!(looks_like_jwt(&with_claims(&json!({}))) && looks_like_jwt("..") && looks_like_jwt("a.b.c"));
    for text in ["", ".", "a.b", "a.b.c.d", "a.b.c=", "a.b.c+", "a.b. c", "a.b.\u{e9}", "ccat_x"] {
        assert!(!looks_like_jwt(text), "{text}");
    }
}

//! `Authorization` (decision A3) and the format of tokens (decision C1). Each line of an input is a value of the header.
//! `KEY` stands for a valid key.

use std::sync::LazyLock;

use catalogue_core::admin::{AdminStorage, NewCredential};
use catalogue_core::auth::{BearerToken, CredentialKind, Scopes, token_kind};
use catalogue_core::storage::{Actor, KeyStorage, MemoryStorage};
use catalogue_core::{AccountId, Catalogue};
use http::HeaderValue;
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use serde_json::json;

use super::call::{ACCOUNT, block_on, call, failure, get, header, header_values, replaced};

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

pub(super) static FIXTURE: LazyLock<(Catalogue, String)> = LazyLock::new(|| {
    let storage = MemoryStorage::new();
    let account = catalogue_core::admin::Account { id: ACCOUNT.into(), name: String::new(), email: String::new() };
    let mut import = block_on(storage.begin_import()).unwrap();
    block_on(import.put_account(&account)).unwrap();
    block_on(import.commit()).unwrap();
    let (_, mut key) =
        NewCredential::api_key(AccountId::new(ACCOUNT), "a key", Scopes::from_names(["read:profile", "read:courses"]));
    let text = with_checksum(&format!("ccat_{}", "k".repeat(43)));
    key.digest = BearerToken::new(&text).unwrap().digest();
    block_on(storage.create_key(&key, &Actor::OPERATOR)).unwrap();
    (Catalogue::with_api_keys(storage).build().unwrap(), text)
});

pub(super) fn check(input: &[u8]) {
    let (catalogue, key) = &*FIXTURE;
    let values = header_values(&replaced(input, b"KEY", key.as_bytes()));
    for value in &values {
        check_format(value.as_bytes());
    }
    let response = call(catalogue, get("/api/v1/me", &AUTHORIZATION, &values).unwrap());
    let challenge = header(response.headers(), WWW_AUTHENTICATE);
    let refused = |reason: &str| (401, Some("unauthorized".to_owned()), json!({ "reason": reason }));
    match bearer_token(&values) {
        None => {
            assert_eq!(failure(&response), refused("missing"), "{values:?}");
            assert_eq!(challenge, Some(r#"Bearer realm="catalogue""#));
        }
        Some(text) if text == key.as_bytes() => assert_eq!(failure(&response).0, 200),
        Some(_) => {
            assert_eq!(failure(&response), refused("invalid"), "{values:?}");
            assert_eq!(challenge, Some(r#"Bearer realm="catalogue", error="invalid_token""#));
        }
    }
}

/// Returns the token of a request: one header, the scheme in any case, one space or more, and the rest.
fn bearer_token(values: &[HeaderValue]) -> Option<&[u8]> {
    let [value] = values else { return None };
    let (scheme, rest) = value.as_bytes().split_at_checked(6)?;
    let rest = rest.strip_prefix(b" ").filter(|_| scheme.eq_ignore_ascii_case(b"bearer"))?;
    rest.iter().position(|byte| *byte != b' ').map(|at| &rest[at..])
}

fn check_format(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let body = text.trim_end_matches('=');
    let is_token = !body.is_empty()
        && body.chars().all(|c| matches!(c, 'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '.' | '_' | '~' | '+' | '/'));
    assert_eq!(BearerToken::new(text).map(|token| token.expose().to_owned()), is_token.then(|| text.to_owned()));

    let kind =
        text.split_at_checked(48).filter(|(content, _)| with_checksum(content) == text).and_then(|(content, _)| {
            let is_random = content[5..].bytes().all(|byte| ALPHABET.contains(&byte));
            let kinds = [("ccat_", CredentialKind::ApiKey), ("cato_", CredentialKind::OAuth)];
            kinds.into_iter().find(|(prefix, _)| is_random && content.starts_with(prefix)).map(|(_, kind)| kind)
        });
    assert_eq!(token_kind(text), kind, "{text:?}");

    // A key made from the input's bytes is valid; with one other letter, it is invalid.
    let letters = bytes.iter().copied().chain(std::iter::repeat(b'0')).take(43);
    let middle: String = letters.map(|byte| char::from(ALPHABET[usize::from(byte) % 62])).collect();
    let whole = with_checksum(&format!("ccat_{middle}"));
    assert_eq!(token_kind(&whole), Some(CredentialKind::ApiKey), "{whole}");
    let at = 5 + usize::from(bytes.first().copied().unwrap_or_default()) % 49;
    let other = if whole.as_bytes()[at] == b'x' { "y" } else { "x" };
    let mut typo = whole;
    typo.replace_range(at..=at, other);
    assert_eq!(token_kind(&typo), None, "{typo}");
}

/// Returns `content` with its checksum: a CRC-32, computed bit by bit, in six digits.
fn with_checksum(content: &str) -> String {
    let mut crc = u32::MAX;
    for byte in content.bytes() {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    let mut number = !crc as usize;
    let mut digits = [0; 6];
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[number % 62];
        number /= 62;
    }
    format!("{content}{}", digits.map(char::from).iter().collect::<String>())
}

//! Tokens that are refused, most of them despite a valid signature.

use std::io::ErrorKind;
use std::net::TcpListener;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use crate::commands::claims;
use crate::issuer::{Issuer, courses, outcome_count, refusal, serve};
use crate::program::TestDir;

#[test]
fn expired_token_is_refused() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let observed = serve(&dir, &issuer);
    let token = issuer.token("lifetime=2");
    observed.wait_until("the token's end", || courses(&observed, &token) != 200);
    let (status, challenge, reason) = refusal(&observed, &token);
    assert_eq!((status, reason.as_str()), (401, Some("expired")));
    assert!(challenge.contains("The token has expired."), "{challenge}");
}

#[test]
fn invalid_tokens_are_refused_and_counted_by_reason() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let observed = serve(&dir, &issuer);
    let for_another = "The token is for another audience.";
    let bound = "Sender-constrained tokens (cnf) are not supported.";
    let claim = "A claim of the token is missing, repeated or invalid.";
    for (query, word, description) in [
        ("typ=JWT".to_owned(), "typ", ""),
        ("typ=".to_owned(), "typ", ""),
        ("typ=dpop%2Bjwt".to_owned(), "typ", ""),
        (claims(r#"{"aud":"https://other.example.com"}"#), "audience", for_another),
        (claims(r#"{"aud":"https://api.example.com/api/v1/"}"#), "audience", for_another),
        (claims(r#"{"cnf":{"jkt":"x"}}"#), "bound", bound),
        (claims(r#"{"account":null}"#), "claim", claim),
        (claims(r#"{"account":"a \ud83d"}"#), "claim", claim),
        (claims(r#"{"account":""}"#), "account", "The token does not name an account."),
        (claims(r#"{"nbf":4000000000}"#), "not_before", "The token is not valid yet."),
        ("kid=ES256-99".to_owned(), "key", ""),
    ] {
        let before = outcome_count(&observed, word);
        let token = issuer.signed(&query);
        let (status, challenge, reason) = refusal(&observed, &token);
        assert_eq!((status, reason.as_str()), (401, Some("invalid")), "{query}");
        assert_eq!(challenge.contains("error_description"), !description.is_empty(), "{query}: {challenge}");
        assert!(challenge.contains(description), "{query}: {challenge}");
        assert_eq!(outcome_count(&observed, word), before + 1.0, "{query}");
        observed.wait_for_log(&format!("outcome=\"{word}\""));
    }
    assert_eq!(courses(&observed, &issuer.signed("")), 200);
    let (good, before) = (issuer.token(""), outcome_count(&observed, "signature"));
    let (signed, signature) = good.rsplit_once('.').unwrap();
    let other = if signature.starts_with('A') { "B" } else { "A" };
    assert_eq!(courses(&observed, &format!("{signed}.{other}{}", &signature[1..])), 401);
    assert_eq!(outcome_count(&observed, "signature"), before + 1.0);
}

/// If the server fetched keys from these URLs, an attacker could sign tokens with keys of its own choice.
#[test]
fn key_urls_in_token_header_are_ignored() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let observed = serve(&dir, &issuer);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/keys", listener.local_addr().unwrap());
    let good = issuer.token("");
    let (_, rest) = good.split_once('.').unwrap();
    for (kid, word) in [("ES256-1", "signature"), ("ES256-99", "key")] {
        let header = json!({ "typ": "at+jwt", "alg": "ES256", "kid": kid, "jku": address, "x5u": address });
        let token = format!("{}.{rest}", URL_SAFE_NO_PAD.encode(header.to_string()));
        assert_eq!((courses(&observed, &token), outcome_count(&observed, word)), (401, 1.0));
    }
    listener.set_nonblocking(true).unwrap();
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}

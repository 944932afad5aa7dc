//! What the issuer may say of a token (decision O36).

use serde_json::json;

use super::fixture::*;
use crate::auth::{BearerToken, CredentialKind, Scopes};

const LACKING: &str = "The token lacks a claim that is required here.";

#[test]
fn an_active_token_is_whose_the_issuer_says() {
    let fixture = Fixture::new();
    let identity = fixture.takes("opaque", "accepted");
    assert_eq!((identity.account.as_str(), identity.kind), ("acc_1", CredentialKind::OAuth));
    assert_eq!(identity.scopes, Scopes::from_names(["read:courses"]));
    assert_eq!(*identity.credential_id, *BearerToken::new("opaque").unwrap().digest().id("oauth"));
    assert_ne!(identity.counted_as(), &*identity.credential_id, "by its client");
    let issued = identity.issued.unwrap();
    assert_eq!((&*issued.issuer, issued.client.as_deref()), (ISSUER, Some("partner")));
}

/// RFC 7662 requires `active` alone; what signed tokens must have besides is not asked for.
#[test]
fn only_what_is_needed_must_be_there() {
    let fixture = Fixture::new();
    let least = json!({ "active": true, "aud": AUDIENCE, "sub": "acc_1", "exp": NOW + 1 });
    let identity = fixture.takes_one_that_is(&least);
    assert!(identity.scopes.is_empty() && identity.issued.unwrap().client.is_none());
}

#[test]
fn a_token_that_is_not_active_is_invalid_whatever_else_is_said() {
    let fixture = Fixture::new();
    fixture.refuses(r#"{"active":false}"#, "inactive", "");
    fixture.refuses(&right_but(&json!({ "active": false })).to_string(), "inactive", "");
}

#[test]
fn a_token_of_another_issuer_is_invalid() {
    let fixture = Fixture::new();
    for iss in [json!("https://id.example.com/"), json!("https://ID.example.com"), json!([ISSUER]), json!(1), json!("")]
    {
        fixture.refuses(&right_but(&json!({ "iss": iss })).to_string(), "issuer", "");
    }
    fixture.refuses(&right().to_string().replace(r#""iss":"#, r#""iss":null,"is":"#), "issuer", "");
    fixture.refuses(&right().to_string().replacen('{', &format!(r#"{{"iss":"{ISSUER}","#), 1), "claim", LACKING);
}

#[test]
fn claims_are_those_of_signed_tokens() {
    let fixture = Fixture::new();
    for (other, word, told) in [
        (json!({ "aud": null }), "audience", "The token is for another audience."),
        (json!({ "aud": ["https://other.example.com"] }), "audience", "The token is for another audience."),
        (json!({ "exp": null }), "claim", LACKING),
        (json!({ "exp": "1900000000" }), "claim", LACKING),
        (json!({ "exp": NOW }), "expired", "The token has expired."),
        (json!({ "nbf": NOW + 31 }), "not_before", "The token is not valid yet."),
        (json!({ "cnf": { "jkt": "x" } }), "bound", "The token is bound to a key, which is not supported here."),
        (json!({ "sub": null }), "claim", LACKING),
        (json!({ "sub": "" }), "account", LACKING),
        (json!({ "sub": "partner" }), "account", LACKING),
        (json!({ "scope": 1 }), "claim", LACKING),
        (json!({ "nonce": "n" }), "typ", ""),
    ] {
        fixture.refuses(&right_but(&other).to_string(), word, told);
    }
    fixture.takes_one_that_is(&right_but(&json!({ "aud": ["x", AUDIENCE], "exp": NOW + 1, "nbf": NOW + 30 })));
}

#[test]
fn account_and_scopes_are_read_as_the_issuer_is_set_up() {
    let fixture = Fixture::with(|builder| builder.account_claim("account").scope_prefix("catalogue:"), |tokens| tokens);
    let other = json!({ "account": "acc_2", "scope": null, "scp": ["catalogue:read:profile", "read:courses"] });
    let identity = fixture.takes_one_that_is(&right_but(&other));
    assert_eq!((identity.account.as_str(), identity.scopes.to_string()), ("acc_2", "read:profile".to_owned()));
    fixture.refuses(&right().to_string(), "claim", LACKING);
}

/// Whoever cannot be understood has refused nothing (decision A19).
#[test]
fn what_is_no_answer_is_no_refusal() {
    let fixture = Fixture::new();
    for answer in ["", "active", "[true]", "null", "{\"active\":false", "<html>", "\u{feff}{}"] {
        fixture.cannot_tell(Answer::Says(answer.to_owned()), "not a JSON object");
    }
    for answer in [r#"{"sub":"acc_1"}"#, r#"{"active":"true"}"#, r#"{"active":1}"#, r#"{"active":true,"active":false}"#]
    {
        fixture.cannot_tell(Answer::Says(answer.to_owned()), "whether the token is active");
    }
    fixture.cannot_tell(Answer::Away, "away");
    fixture.cannot_tell(Answer::Panics, "as it was told");
    fixture.takes_one_that_is(&right());
}

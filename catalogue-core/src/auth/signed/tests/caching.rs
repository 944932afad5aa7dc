//! Cached tokens: valid until they expire, while the issuer has the key (decision O28).

use std::time::Duration;

use serde_json::json;

use super::fixture::*;

const CACHED: &[&str] = &["cached"];

#[test]
fn a_token_is_verified_once() {
    let fixture = Fixture::new();
    let token = with_claims(&json!({}));
    let first = fixture.accepted(&token);
    let (verdict, outcomes) = fixture.verdict_and_outcomes(&token);
    assert_eq!(outcomes, CACHED);
    assert_eq!(verdict.unwrap(), crate::auth::Verdict::Accepted(first));
    // Another token with the same claims is not cached.
    assert_eq!(fixture.verdict_and_outcomes(&with_claims(&json!({}))).1, ["accepted"]);
}

#[test]
fn a_kept_token_ends_at_its_expiry() {
    let fixture = Fixture::new();
    let token = with_claims(&json!({ "exp": NOW + 2 }));
    fixture.accepted(&token);
    fixture.forward(Duration::from_millis(1999));
    assert_eq!(fixture.verdict_and_outcomes(&token).1, CACHED);
    fixture.forward(Duration::from_millis(1));
    fixture.refuses("at its end", &token, "expired");
}

#[test]
fn a_kept_token_ends_with_its_key() {
    let fixture = Fixture::new();
    let (token, other) = (with_claims(&json!({})), ES384.token(&ES384.header(), &claims()));
    fixture.accepted(&token);
    fixture.accepted(&other);
    fixture.source.set_behavior(Behavior::Set(set_of(&[&ES384])));
    block_on(fixture.tokens.refresh());
    assert_eq!(fixture.verdict_and_outcomes(&other).1, CACHED);
    fixture.refuses("its key is gone", &token, "key");
    // Another key with its name does not make it valid again.
    fixture.source.set_behavior(Behavior::Set(set([but(OTHER_ES256.jwk(), &json!({ "kid": "es256" }))])));
    block_on(fixture.tokens.refresh());
    fixture.refuses("another key", &token, "signature");
    fixture.source.set_behavior(Behavior::Set(every_key()));
    block_on(fixture.tokens.refresh());
    assert_eq!(fixture.verdict_and_outcomes(&token).1, CACHED);
}

#[test]
fn a_kept_token_does_not_outlive_a_set_that_is_too_old() {
    let fixture = Fixture::new();
    let token = with_claims(&json!({ "exp": NOW + 1_000_000 }));
    fixture.accepted(&token);
    fixture.source.set_behavior(Behavior::Fails);
    fixture.forward(Duration::from_secs(24 * 60 * 60 + 1));
    let (verdict, outcomes) = fixture.verdict_and_outcomes(&token);
    assert!(verdict.is_err());
    assert_eq!(outcomes, ["unavailable"]);
}

/// The expiry is checked by the adjustable clock, and the age of the key set by the monotonic one.
#[test]
fn a_clock_that_is_set_back_and_forth_keeps_no_token_too_long() {
    let fixture = Fixture::new();
    let token = with_claims(&json!({}));
    fixture.accepted(&token);
    for _ in 0..3 {
        fixture.set_ahead(3_600);
        fixture.refuses("past its end", &token, "expired");
        fixture.set_ahead(0);
        assert_eq!(fixture.verdict_and_outcomes(&token).1, CACHED);
        fixture.set_ahead(-3_600);
        assert_eq!(fixture.verdict_and_outcomes(&token).1, CACHED);
    }
    fixture.set_ahead(100 * 24 * 3_600);
    fixture.accepted(&with_claims(&json!({ "exp": NOW + 200 * 24 * 3_600 })));
    assert_eq!(fixture.source.fetches(), 1);
}

#[test]
fn refused_tokens_are_not_kept() {
    let fixture = Fixture::new();
    let token = with_claims(&json!({ "nbf": NOW + 31 }));
    fixture.refuses("too early", &token, "not_before");
    fixture.forward(Duration::from_secs(1));
    assert_eq!(fixture.verdict_and_outcomes(&token).1, ["accepted"]);
}

#[test]
fn a_host_may_keep_none() {
    let fixture = Fixture::with(|builder| builder.token_cache_capacity(0));
    let token = with_claims(&json!({}));
    for _ in 0..3 {
        assert_eq!(fixture.verdict_and_outcomes(&token).1, ["accepted"]);
    }
}

#[test]
fn two_issuers_are_two_authenticators() {
    let token = with_claims(&json!({}));
    let theirs = with_claims(&json!({ "iss": "https://other.example.com" }));
    let fixture = Fixture::new();
    fixture.accepted(&token);
    fixture.leaves("theirs", &theirs, None);
    assert_eq!(fixture.tokens.issuer(), ISSUER);
}

#[test]
fn settings_that_cannot_be_are_refused() {
    use super::super::SignedTokens;
    use crate::BuildError;

    let build = |issuer: &str, audience: &str, claim: &str| {
        SignedTokens::builder(issuer, audience, every_key()).account_claim(claim).build().map(drop)
    };
    assert_eq!(build("i", "a", "sub"), Ok(()));
    assert_eq!(build("", "a", "sub"), Err(BuildError::SignedTokens("issuer")));
    assert_eq!(build("i", "", "sub"), Err(BuildError::SignedTokens("audience")));
    assert_eq!(build("i", "a", ""), Err(BuildError::SignedTokens("account's claim")));
    let none = SignedTokens::builder("i", "a", every_key()).algorithms([]).build().map(drop);
    assert_eq!(none, Err(BuildError::SignedTokens("list of algorithms")));
}

//! Cached tokens, which are valid until they expire and while the issuer has the key (decision O28); invalid settings.

use std::time::Duration;

use serde_json::json;

use super::fixture::*;

const CACHED: &[&str] = &["cached"];

#[test]
fn token_signature_is_verified_once() {
    let fixture = Fixture::new();
    let token = with_claims(&json!({}));
    let first = fixture.accepts(&token);
    let (verdict, outcomes) = fixture.verdict_and_outcomes(&token);
    assert_eq!(outcomes, CACHED);
    assert_eq!(verdict.unwrap(), crate::auth::Verdict::Accepted(first));
    // Another token with the same claims is not cached.
    assert_eq!(fixture.verdict_and_outcomes(&with_claims(&json!({}))).1, ["accepted"]);
}

#[test]
fn cached_token_expires_at_its_exp() {
    let fixture = Fixture::new();
    let token = with_claims(&json!({ "exp": NOW + 2 }));
    fixture.accepts(&token);
    fixture.advance(Duration::from_millis(1999));
    assert_eq!(fixture.verdict_and_outcomes(&token).1, CACHED);
    fixture.advance(Duration::from_millis(1));
    fixture.refuses("at its expiry", &token, "expired");
}

#[test]
fn cached_token_is_invalid_without_its_key() {
    let fixture = Fixture::new();
    let (token, other) = (with_claims(&json!({})), ES384.token(&ES384.header(), &claims()));
    fixture.accepts(&token);
    fixture.accepts(&other);
    fixture.source.set_behavior(Behavior::Set(set_of(&[&ES384])));
    block_on(fixture.tokens.refresh());
    assert_eq!(fixture.verdict_and_outcomes(&other).1, CACHED);
    fixture.refuses("its key was removed", &token, "key");
    // Another key with the same `kid` does not make the token valid again.
    fixture.source.set_behavior(Behavior::Set(set([patch(OTHER_ES256.jwk(), &json!({ "kid": "es256" }))])));
    block_on(fixture.tokens.refresh());
    fixture.refuses("another key", &token, "signature");
    fixture.source.set_behavior(Behavior::Set(every_key()));
    block_on(fixture.tokens.refresh());
    assert_eq!(fixture.verdict_and_outcomes(&token).1, CACHED);
}

#[test]
fn cached_token_fails_when_key_set_is_outdated() {
    let fixture = Fixture::new();
    let token = with_claims(&json!({ "exp": NOW + 1_000_000 }));
    fixture.accepts(&token);
    fixture.source.set_behavior(Behavior::Fails);
    fixture.advance(Duration::from_secs(24 * 60 * 60 + 1));
    let (verdict, outcomes) = fixture.verdict_and_outcomes(&token);
    assert!(verdict.is_err());
    assert_eq!(outcomes, ["unavailable"]);
}

/// The expiry is checked by the adjustable clock, and the age of the key set by the monotonic one.
#[test]
fn clock_changes_do_not_extend_cached_token() {
    let fixture = Fixture::new();
    let token = with_claims(&json!({}));
    fixture.accepts(&token);
    for _ in 0..3 {
        fixture.set_ahead(3_600);
        fixture.refuses("past its expiry", &token, "expired");
        fixture.set_ahead(0);
        assert_eq!(fixture.verdict_and_outcomes(&token).1, CACHED);
        fixture.set_ahead(-3_600);
        assert_eq!(fixture.verdict_and_outcomes(&token).1, CACHED);
    }
    fixture.set_ahead(100 * 24 * 3_600);
    fixture.accepts(&with_claims(&json!({ "exp": NOW + 200 * 24 * 3_600 })));
    assert_eq!(fixture.source.fetches(), 1);
}

#[test]
fn refused_tokens_are_not_cached() {
    let fixture = Fixture::new();
    let token = with_claims(&json!({ "nbf": NOW + 31 }));
    fixture.refuses("too early", &token, "not_before");
    fixture.advance(Duration::from_secs(1));
    assert_eq!(fixture.verdict_and_outcomes(&token).1, ["accepted"]);
}

#[test]
fn zero_capacity_disables_token_cache() {
    let fixture = Fixture::with(|builder| builder.token_cache_capacity(0));
    let token = with_claims(&json!({}));
    for _ in 0..3 {
        assert_eq!(fixture.verdict_and_outcomes(&token).1, ["accepted"]);
    }
}

#[test]
fn token_of_another_issuer_is_not_recognized() {
    let token = with_claims(&json!({}));
    let other = with_claims(&json!({ "iss": "https://other.example.com" }));
    let fixture = Fixture::new();
    fixture.accepts(&token);
    fixture.ignores("another issuer", &other, None);
    assert_eq!(fixture.tokens.issuer(), ISSUER);
}

#[test]
fn invalid_settings_are_refused() {
    use super::super::SignedTokens;
    use crate::BuildError;

    let build = |issuer: &str, audience: &str, claim: &str| {
        SignedTokens::builder(issuer, audience, every_key()).account_claim(claim).build().map(drop)
    };
    assert_eq!(build("i", "a", "sub"), Ok(()));
    assert_eq!(build("", "a", "sub"), Err(BuildError::SignedTokens("issuer")));
    assert_eq!(build("i", "", "sub"), Err(BuildError::SignedTokens("audience")));
    assert_eq!(build("i", "a", ""), Err(BuildError::SignedTokens("account claim")));
    let none = SignedTokens::builder("i", "a", every_key()).algorithms([]).build().map(drop);
    assert_eq!(none, Err(BuildError::SignedTokens("list of algorithms")));
}

//! Cached tokens, which are valid until they expire and while the issuer has the key (decision O28); invalid settings.

use serde_json::json;

use super::super::SignedTokens;
use super::fixture::*;
use crate::BuildError;

#[test]
fn token_signature_is_verified_once() {
    let fixture = Fixture::new();
    let token = with_claims(&json!({}));
    let first = fixture.accepts_as("accepted", &token);
    assert_eq!(fixture.accepts_as("cached", &token), first);
    // Another token with the same claims is not cached.
    fixture.accepts_as("accepted", &with_claims(&json!({})));
    let uncached = Fixture::with(|builder| builder.token_cache_capacity(0));
    for _ in 0..3 {
        uncached.accepts_as("accepted", &token);
    }
}

#[test]
fn cached_token_expires_at_its_exp() {
    let fixture = Fixture::new();
    let token = with_claims(&json!({ "exp": NOW + 2 }));
    fixture.accepts(&token);
    fixture.advance(2 * SECOND - MILLISECOND);
    fixture.accepts_as("cached", &token);
    fixture.advance(MILLISECOND);
    fixture.refuses("at its expiry", &token, "expired");
}

#[test]
fn cached_token_is_invalid_without_its_key() {
    let fixture = Fixture::new();
    let (token, other) = (with_claims(&json!({})), ES384.token(&ES384.header(), &claims()));
    fixture.accepts(&token);
    fixture.accepts(&other);
    fixture.source.set_response(set_of(&[&ES384]));
    fixture.refresh();
    fixture.accepts_as("cached", &other);
    fixture.refuses("its key was removed", &token, "key");
    // Another key with the same `kid` does not make the token valid again.
    fixture.source.set_response(set([patch(OTHER_ES256.jwk(), &json!({ "kid": "es256" }))]));
    fixture.refresh();
    fixture.refuses("another key", &token, "signature");
    fixture.source.set_response(every_key());
    fixture.refresh();
    fixture.accepts_as("cached", &token);
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
        for ahead in [0, -3_600] {
            fixture.set_ahead(ahead);
            fixture.accepts_as("cached", &token);
        }
    }
    fixture.set_ahead(100 * 24 * 3_600);
    fixture.accepts(&with_claims(&json!({ "exp": NOW + 200 * 24 * 3_600 })));
    assert_eq!(fixture.source.count(), 1);
}

#[test]
fn refused_tokens_are_not_cached() {
    let fixture = Fixture::new();
    let token = with_claims(&json!({ "nbf": NOW + 31 }));
    fixture.refuses("too early", &token, "not_before");
    fixture.advance(SECOND);
    fixture.accepts_as("accepted", &token);
}

#[test]
fn invalid_settings_are_refused() {
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

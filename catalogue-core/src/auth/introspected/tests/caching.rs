//! The cache of accepted tokens (decision O37).

use std::time::Duration;

use serde_json::json;

use super::fixture::*;

const INACTIVE: &str = r#"{"active":false}"#;

fn caching(seconds: u64) -> Fixture {
    Fixture::with(|builder| builder, |tokens| tokens.cache_for(Duration::from_secs(seconds)))
}

fn request_count(fixture: &Fixture) -> usize {
    fixture.issuer.requests().len()
}

#[test]
fn tokens_are_not_cached_by_default() {
    let fixture = Fixture::new();
    fixture.accepts("opaque", "accepted");
    fixture.accepts("opaque", "accepted");
    assert_eq!(request_count(&fixture), 2);
    fixture.refuses(INACTIVE, "inactive", "");
}

#[test]
fn accepted_token_is_cached_for_ttl() {
    let fixture = caching(10);
    let first = fixture.accepts("opaque", "accepted");
    fixture.issuer.set_behavior(Behavior::Responds(INACTIVE.to_owned()));
    fixture.advance(9);
    assert_eq!(fixture.accepts("opaque", "cached"), first);
    assert_eq!(request_count(&fixture), 1);
    fixture.advance(1);
    fixture.refuses(INACTIVE, "inactive", "");
}

/// A response renews a cached token; a use does not.
#[test]
fn cache_ttl_starts_when_request_is_sent() {
    let fixture = caching(10);
    for _ in 0..3 {
        fixture.accepts("opaque", "accepted");
        fixture.advance(6);
        fixture.accepts("opaque", "cached");
        fixture.advance(4);
    }
    fixture.issuer.set_behavior(Behavior::Hangs);
    let mut late = Box::pin(fixture.authenticate("late"));
    assert!(poll(late.as_mut()).is_pending());
    fixture.advance(2);
    fixture.issuer.set_behavior(Behavior::Responds(valid_response().to_string()));
    fixture.issuer.release(1);
    assert!(poll(late.as_mut()).is_ready());
    fixture.advance(7);
    fixture.accepts("late", "cached");
    fixture.advance(1);
    fixture.accepts("late", "accepted");
}

#[test]
fn cache_ttl_is_capped_at_one_minute() {
    let fixture = caching(3600);
    fixture.accepts("opaque", "accepted");
    fixture.advance(59);
    fixture.accepts("opaque", "cached");
    fixture.advance(1);
    fixture.accepts("opaque", "accepted");
}

#[test]
fn cached_token_expires_at_its_exp() {
    let fixture = caching(60);
    fixture.accepts_response(&valid_response_with(&json!({ "exp": NOW + 5 })));
    fixture.advance(4);
    fixture.accepts("opaque", "cached");
    fixture.advance(1);
    fixture.refuses(&valid_response_with(&json!({ "exp": NOW + 5 })).to_string(), "expired", "The token has expired.");
}

/// A clock that is set back does not extend the time in the cache.
#[test]
fn cache_entry_from_the_future_is_ignored() {
    let fixture = caching(60);
    fixture.accepts("opaque", "accepted");
    fixture.advance(-1);
    fixture.accepts("opaque", "accepted");
}

#[test]
fn refusals_and_failures_are_not_cached() {
    let fixture = caching(60);
    fixture.refuses(INACTIVE, "inactive", "");
    fixture.fails(Behavior::Fails, "unreachable");
    fixture.accepts_response(&valid_response());
    fixture.accepts("opaque", "cached");
    fixture.accepts("another", "accepted");
}

//! The cache of accepted tokens (decision O37).

use std::time::Duration;

use serde_json::json;

use super::fixture::*;

fn caching(seconds: u64) -> Fixture {
    Fixture::with_tokens(|builder| builder, |tokens| tokens.cache_for(Duration::from_secs(seconds)))
}

#[test]
fn tokens_are_not_cached_by_default() {
    let fixture = Fixture::accepting();
    for count in 1..3 {
        fixture.accepts_as("accepted", "opaque");
        assert_eq!(fixture.source.count(), count);
    }
}

/// The TTL is at most a minute.
#[test]
fn accepted_token_is_cached_for_ttl() {
    for (configured, seconds) in [(10, 10), (60, 60), (3600, 60)] {
        let fixture = caching(configured);
        let first = fixture.accepts_as("accepted", "opaque");
        fixture.source.set_response(INACTIVE);
        fixture.advance((seconds - 1) * SECOND);
        assert_eq!(fixture.accepts_as("cached", "opaque"), first);
        assert_eq!(fixture.source.count(), 1);
        fixture.advance(SECOND);
        fixture.refuses_response(INACTIVE, "inactive", "");
    }
}

/// A response renews a cached token; a use does not.
#[test]
fn cache_ttl_starts_when_request_is_sent() {
    let fixture = caching(10);
    for _ in 0..3 {
        fixture.accepts_as("accepted", "opaque");
        fixture.advance(6 * SECOND);
        fixture.accepts_as("cached", "opaque");
        fixture.advance(4 * SECOND);
    }
    fixture.source.set_behavior(Behavior::Hangs);
    let mut late = Box::pin(fixture.authenticate("late"));
    assert!(poll(late.as_mut()).is_pending());
    fixture.advance(2 * SECOND);
    fixture.source.release(1, Behavior::Responds(valid_response().to_string().into()));
    assert!(poll(late.as_mut()).is_ready());
    fixture.advance(7 * SECOND);
    fixture.accepts_as("cached", "late");
    fixture.advance(SECOND);
    fixture.accepts_as("accepted", "late");
}

#[test]
fn cached_token_expires_at_its_exp() {
    let (fixture, response) = (caching(60), response_with(&json!({ "exp": NOW + 5 })));
    fixture.accepts_response(&response);
    fixture.advance(4 * SECOND);
    fixture.accepts_as("cached", "opaque");
    fixture.advance(SECOND);
    fixture.refuses_response(&response, "expired", "The token has expired.");
}

/// A clock that is set back does not extend the time in the cache.
#[test]
fn cache_entry_from_the_future_is_ignored() {
    let fixture = caching(60);
    fixture.accepts_as("accepted", "opaque");
    fixture.set_ahead(-1);
    fixture.accepts_as("accepted", "opaque");
}

#[test]
fn refusals_and_failures_are_not_cached() {
    let fixture = caching(60);
    fixture.refuses_response(INACTIVE, "inactive", "");
    fixture.fails(Behavior::Fails, "unreachable");
    fixture.accepts_response(&valid_response());
    fixture.accepts_as("cached", "opaque");
    fixture.accepts_as("accepted", "another");
}

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
fn by_default_nothing_is_kept() {
    let fixture = Fixture::new();
    fixture.accepts("opaque", "accepted");
    fixture.accepts("opaque", "accepted");
    assert_eq!(request_count(&fixture), 2);
    fixture.refuses(INACTIVE, "inactive", "");
}

#[test]
fn an_accepted_token_is_kept_as_long_as_it_is_told() {
    let fixture = caching(10);
    let first = fixture.accepts("opaque", "accepted");
    fixture.issuer.set_behavior(Behavior::Responds(INACTIVE.to_owned()));
    fixture.forward(9);
    assert_eq!(fixture.accepts("opaque", "cached"), first);
    assert_eq!(request_count(&fixture), 1);
    fixture.forward(1);
    fixture.refuses(INACTIVE, "inactive", "");
}

/// A response renews a cached token; a use does not.
#[test]
fn an_answer_counts_from_when_it_was_asked_for() {
    let fixture = caching(10);
    for _ in 0..3 {
        fixture.accepts("opaque", "accepted");
        fixture.forward(6);
        fixture.accepts("opaque", "cached");
        fixture.forward(4);
    }
    fixture.issuer.set_behavior(Behavior::Hangs);
    let mut late = Box::pin(fixture.ask("late"));
    assert!(poll(late.as_mut()).is_pending());
    fixture.forward(2);
    fixture.issuer.set_behavior(Behavior::Responds(valid_response().to_string()));
    fixture.issuer.release(1);
    assert!(poll(late.as_mut()).is_ready());
    fixture.forward(7);
    fixture.accepts("late", "cached");
    fixture.forward(1);
    fixture.accepts("late", "accepted");
}

#[test]
fn a_minute_is_the_most() {
    let fixture = caching(3600);
    fixture.accepts("opaque", "accepted");
    fixture.forward(59);
    fixture.accepts("opaque", "cached");
    fixture.forward(1);
    fixture.accepts("opaque", "accepted");
}

#[test]
fn nothing_is_kept_past_its_end() {
    let fixture = caching(60);
    fixture.accepts_response(&valid_response_with(&json!({ "exp": NOW + 5 })));
    fixture.forward(4);
    fixture.accepts("opaque", "cached");
    fixture.forward(1);
    fixture.refuses(&valid_response_with(&json!({ "exp": NOW + 5 })).to_string(), "expired", "The token has expired.");
}

/// Setting the clock back does not extend the caching.
#[test]
fn what_was_asked_in_the_future_does_not_count() {
    let fixture = caching(60);
    fixture.accepts("opaque", "accepted");
    fixture.forward(-1);
    fixture.accepts("opaque", "accepted");
}

#[test]
fn refused_ones_and_failures_are_not_kept() {
    let fixture = caching(60);
    fixture.refuses(INACTIVE, "inactive", "");
    fixture.fails(Behavior::Fails, "away");
    fixture.accepts_response(&valid_response());
    fixture.accepts("opaque", "cached");
    fixture.accepts("another", "accepted");
}

//! The cache of accepted tokens (decision O37).

use std::time::Duration;

use serde_json::json;

use super::fixture::*;

const INACTIVE: &str = r#"{"active":false}"#;

fn keeping(seconds: u64) -> Fixture {
    Fixture::with(|builder| builder, |tokens| tokens.keep(Duration::from_secs(seconds)))
}

fn asked(fixture: &Fixture) -> usize {
    fixture.issuer.asked().len()
}

#[test]
fn by_default_nothing_is_kept() {
    let fixture = Fixture::new();
    fixture.takes("opaque", "accepted");
    fixture.takes("opaque", "accepted");
    assert_eq!(asked(&fixture), 2);
    fixture.refuses(INACTIVE, "inactive", "");
}

#[test]
fn an_accepted_token_is_kept_as_long_as_it_is_told() {
    let fixture = keeping(10);
    let first = fixture.takes("opaque", "accepted");
    fixture.issuer.answer(Answer::Says(INACTIVE.to_owned()));
    fixture.forward(9);
    assert_eq!(fixture.takes("opaque", "kept"), first);
    assert_eq!(asked(&fixture), 1);
    fixture.forward(1);
    fixture.refuses(INACTIVE, "inactive", "");
}

/// A response renews a cached token; a use does not.
#[test]
fn an_answer_counts_from_when_it_was_asked_for() {
    let fixture = keeping(10);
    for _ in 0..3 {
        fixture.takes("opaque", "accepted");
        fixture.forward(6);
        fixture.takes("opaque", "kept");
        fixture.forward(4);
    }
    fixture.issuer.answer(Answer::Hangs);
    let mut late = Box::pin(fixture.ask("late"));
    assert!(poll(late.as_mut()).is_pending());
    fixture.forward(2);
    fixture.issuer.answer(Answer::Says(right().to_string()));
    fixture.issuer.release(1);
    assert!(poll(late.as_mut()).is_ready());
    fixture.forward(7);
    fixture.takes("late", "kept");
    fixture.forward(1);
    fixture.takes("late", "accepted");
}

#[test]
fn a_minute_is_the_most() {
    let fixture = keeping(3600);
    fixture.takes("opaque", "accepted");
    fixture.forward(59);
    fixture.takes("opaque", "kept");
    fixture.forward(1);
    fixture.takes("opaque", "accepted");
}

#[test]
fn nothing_is_kept_past_its_end() {
    let fixture = keeping(60);
    fixture.takes_one_that_is(&right_but(&json!({ "exp": NOW + 5 })));
    fixture.forward(4);
    fixture.takes("opaque", "kept");
    fixture.forward(1);
    fixture.refuses(&right_but(&json!({ "exp": NOW + 5 })).to_string(), "expired", "The token has expired.");
}

/// Setting the clock back does not extend the caching.
#[test]
fn what_was_asked_in_the_future_does_not_count() {
    let fixture = keeping(60);
    fixture.takes("opaque", "accepted");
    fixture.forward(-1);
    fixture.takes("opaque", "accepted");
}

#[test]
fn refused_ones_and_failures_are_not_kept() {
    let fixture = keeping(60);
    fixture.refuses(INACTIVE, "inactive", "");
    fixture.cannot_tell(Answer::Away, "away");
    fixture.takes_one_that_is(&right());
    fixture.takes("opaque", "kept");
    fixture.takes("another", "accepted");
}

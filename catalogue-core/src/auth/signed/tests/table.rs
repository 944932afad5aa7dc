//! The whole table of decision O25: the outcome by the server's keys, the token's `kid` and the issuer's behavior.

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use serde_json::json;

use super::fixture::*;
use crate::auth::{Refusal, Verdict};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const SECOND: Duration = Duration::from_secs(1);

/// State of the server's keys.
#[derive(Clone, Copy, Debug)]
enum Keys {
    Fetched,
    /// Fetched, and a made-up `kid` has just caused another fetch, which succeeded or failed.
    Refetched(bool),
    Never,
    TooOld,
}

/// Outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Observed {
    Verified,
    /// A 401.
    Refused,
    /// A 500.
    Unavailable,
    /// No response yet.
    Waits,
}
use Observed::{Refused, Unavailable, Verified, Waits};

/// Behaviors of the issuer: available, keys rotated, unreachable, responds with an invalid set, panics the fetcher, hangs.
const BEHAVIORS: [&str; 6] = ["the same", "rotated", "away", "broken", "panics", "hangs"];

fn behavior(does: &str) -> Behavior {
    match does {
        "the same" => Behavior::Set(set_of(&[&ES256])),
        "rotated" => Behavior::Set(set_of(&[&ES256, &OTHER_ES256])),
        "away" => Behavior::Fails,
        "broken" => Behavior::Set(r#"{"keys":[]}"#.into()),
        "panics" => Behavior::Panics,
        _ => Behavior::Hangs,
    }
}

/// Creates a server with these keys, whose host application has a refresh task.
fn with(keys: Keys) -> Fixture {
    let fixture = Fixture::over(behavior("the same"), |builder| builder);
    match keys {
        Keys::Never => {}
        Keys::Fetched => drop(block_on(fixture.tokens.refresh())),
        Keys::TooOld => {
            block_on(fixture.tokens.refresh());
            fixture.forward(DAY + SECOND);
        }
        Keys::Refetched(succeeds) => {
            block_on(fixture.tokens.refresh());
            fixture.source.set_behavior(behavior(if succeeds { "the same" } else { "away" }));
            let made_up = block_on(fixture.ask(&with_header(&json!({ "kid": "made up" }))));
            assert_eq!(made_up.is_ok(), succeeds);
            fixture.forward(10 * SECOND - Duration::from_millis(1));
        }
    }
    fixture
}

fn ask(fixture: &Fixture, token: &str) -> Observed {
    match pin!(fixture.ask(token)).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Pending => Waits,
        Poll::Ready(Ok(Verdict::Accepted(_))) => Verified,
        Poll::Ready(Ok(Verdict::Refused(Refusal::Invalid, Some(explanation)))) if explanation.code == "key" => Refused,
        Poll::Ready(Err(_)) => Unavailable,
        Poll::Ready(other) => panic!("{other:?}"),
    }
}

#[test]
fn what_a_token_meets() {
    let known = with_claims(&json!({ "exp": NOW + 10_000_000 }));
    let unknown = OTHER_ES256.token(&OTHER_ES256.header(), &but(claims(), &json!({ "exp": NOW + 10_000_000 })));
    // By the issuer's behavior, in the order of `BEHAVIORS`.
    let by_a_fetch = [Refused, Verified, Unavailable, Unavailable, Unavailable, Waits];
    let known_by_a_fetch = [Verified, Verified, Unavailable, Unavailable, Unavailable, Waits];
    for (keys, token, expected) in [
        (Keys::Fetched, &known, [Verified; 6]),
        (Keys::Fetched, &unknown, by_a_fetch),
        (Keys::Refetched(true), &known, [Verified; 6]),
        (Keys::Refetched(true), &unknown, [Refused; 6]),
        (Keys::Refetched(false), &known, [Verified; 6]),
        (Keys::Refetched(false), &unknown, [Unavailable; 6]),
        (Keys::Never, &known, known_by_a_fetch),
        (Keys::Never, &unknown, by_a_fetch),
        (Keys::TooOld, &known, known_by_a_fetch),
        (Keys::TooOld, &unknown, by_a_fetch),
    ] {
        for (does, expected) in BEHAVIORS.into_iter().zip(expected) {
            let fixture = with(keys);
            fixture.source.set_behavior(behavior(does));
            let before = fixture.source.fetches();
            let case = format!("{keys:?}, {does}, known: {}", *token == known);
            assert_eq!(ask(&fixture, token), expected, "{case}");
            // A failed fetch is repeated after ten seconds at the earliest; a known key is not fetched again.
            let fetches = fixture.source.fetches();
            assert_eq!(ask(&fixture, token), expected, "{case}, again");
            assert_eq!(fixture.source.fetches(), fetches, "{case}: fetched again");
            let is_settled =
                *token == known && !matches!(keys, Keys::Never | Keys::TooOld) || matches!(keys, Keys::Refetched(_));
            assert_eq!(fetches == before, is_settled, "{case}");
        }
    }
}

/// A token that was seen before gets its verdict at the first poll, whatever requests with made-up keys cause.
#[test]
fn a_known_token_is_never_slowed() {
    for does in BEHAVIORS {
        let fixture = with(Keys::Fetched);
        let known = with_claims(&json!({}));
        assert_eq!(ask(&fixture, &known), Verified);
        fixture.source.set_behavior(behavior(does));
        for number in 0..1000 {
            ask(&fixture, &with_header(&json!({ "kid": format!("made up {number}") })));
            assert_eq!(ask(&fixture, &known), Verified, "{does}");
        }
        assert_eq!(fixture.source.fetches(), 2, "{does}: one fetch in ten seconds");
    }
}

/// Ten thousand tokens in a second, each with another key: one fetch in ten seconds, and none of them is cached.
#[test]
fn made_up_keys_cause_one_fetch_and_leave_nothing_behind() {
    let known = with_claims(&json!({}));
    let (_, rest) = known.split_once('.').unwrap();
    // The signature does not matter: without a key it is not verified.
    let made_up = |number: usize| {
        let header = but(ES256.header(), &json!({ "kid": format!("made up {number}") }));
        format!("{}.{rest}", base64(header.to_string()))
    };
    for (does, expected) in [("the same", Refused), ("away", Unavailable), ("hangs", Waits)] {
        let fixture = with(Keys::Fetched);
        assert_eq!(ask(&fixture, &known), Verified);
        fixture.source.set_behavior(behavior(does));
        for number in 0..10_000 {
            assert_eq!(ask(&fixture, &made_up(number)), expected, "{does}, {number}");
            if number % 10 == 9 {
                fixture.forward(Duration::from_millis(1));
            }
        }
        assert_eq!(fixture.source.fetches(), 2, "{does}");
        assert_eq!(fixture.tokens.0.cache.len(), 1, "{does}");
        assert_eq!(ask(&fixture, &known), Verified);
        fixture.forward(9 * SECOND - Duration::from_millis(1));
        ask(&fixture, &made_up(10_000));
        assert_eq!(fixture.source.fetches(), 2, "{does}, within ten seconds");
        fixture.forward(Duration::from_millis(1));
        for number in 10_000..10_100 {
            ask(&fixture, &made_up(number));
        }
        assert_eq!(fixture.source.fetches(), 3, "{does}, after ten seconds");
    }
}

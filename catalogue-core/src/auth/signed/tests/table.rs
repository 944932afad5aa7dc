//! All cases of decision O25: the outcome by the server's keys, the token's `kid` and the issuer's behavior.

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

/// Behaviors of the issuer, or of the fetch from it.
const BEHAVIORS: [&str; 6] = ["unchanged", "rotated", "unreachable", "invalid", "panics", "hangs"];

fn behavior(name: &str) -> Behavior {
    match name {
        "unchanged" => Behavior::Set(set_of(&[&ES256])),
        "rotated" => Behavior::Set(set_of(&[&ES256, &OTHER_ES256])),
        "unreachable" => Behavior::Fails,
        "invalid" => Behavior::Set(r#"{"keys":[]}"#.into()),
        "panics" => Behavior::Panics,
        _ => Behavior::Hangs,
    }
}

/// Creates a fixture with `keys`. Unless they are [`Keys::Never`], a refresh task has fetched them.
fn with_keys(keys: Keys) -> Fixture {
    let fixture = Fixture::with_behavior(behavior("unchanged"), |builder| builder);
    match keys {
        Keys::Never => {}
        Keys::Fetched => drop(block_on(fixture.tokens.refresh())),
        Keys::TooOld => {
            block_on(fixture.tokens.refresh());
            fixture.advance(DAY + SECOND);
        }
        Keys::Refetched(succeeds) => {
            block_on(fixture.tokens.refresh());
            fixture.source.set_behavior(behavior(if succeeds { "unchanged" } else { "unreachable" }));
            let made_up = block_on(fixture.authenticate(&with_header(&json!({ "kid": "made up" }))));
            assert_eq!(made_up.is_ok(), succeeds);
            fixture.advance(10 * SECOND - Duration::from_millis(1));
        }
    }
    fixture
}

fn observe(fixture: &Fixture, token: &str) -> Observed {
    match pin!(fixture.authenticate(token)).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Pending => Waits,
        Poll::Ready(Ok(Verdict::Accepted(_))) => Verified,
        Poll::Ready(Ok(Verdict::Refused(Refusal::Invalid, Some(explanation)))) if explanation.code == "key" => Refused,
        Poll::Ready(Err(_)) => Unavailable,
        Poll::Ready(other) => panic!("{other:?}"),
    }
}

#[test]
fn outcome_by_key_state_and_issuer_behavior() {
    let known = with_claims(&json!({ "exp": NOW + 10_000_000 }));
    let unknown = OTHER_ES256.token(&OTHER_ES256.header(), &patch(claims(), &json!({ "exp": NOW + 10_000_000 })));
    // By the issuer's behavior, in the order of `BEHAVIORS`.
    let unknown_after_fetch = [Refused, Verified, Unavailable, Unavailable, Unavailable, Waits];
    let known_after_fetch = [Verified, Verified, Unavailable, Unavailable, Unavailable, Waits];
    for (keys, token, expected) in [
        (Keys::Fetched, &known, [Verified; 6]),
        (Keys::Fetched, &unknown, unknown_after_fetch),
        (Keys::Refetched(true), &known, [Verified; 6]),
        (Keys::Refetched(true), &unknown, [Refused; 6]),
        (Keys::Refetched(false), &known, [Verified; 6]),
        (Keys::Refetched(false), &unknown, [Unavailable; 6]),
        (Keys::Never, &known, known_after_fetch),
        (Keys::Never, &unknown, unknown_after_fetch),
        (Keys::TooOld, &known, known_after_fetch),
        (Keys::TooOld, &unknown, unknown_after_fetch),
    ] {
        for (issuer, expected) in BEHAVIORS.into_iter().zip(expected) {
            let fixture = with_keys(keys);
            fixture.source.set_behavior(behavior(issuer));
            let before = fixture.source.fetches();
            let case = format!("{keys:?}, {issuer}, known: {}", *token == known);
            assert_eq!(observe(&fixture, token), expected, "{case}");
            // A failed fetch is repeated after ten seconds at the earliest; a known key is not fetched again.
            let fetches = fixture.source.fetches();
            assert_eq!(observe(&fixture, token), expected, "{case}, again");
            assert_eq!(fixture.source.fetches(), fetches, "{case}: fetched again");
            let needs_no_fetch =
                *token == known && !matches!(keys, Keys::Never | Keys::TooOld) || matches!(keys, Keys::Refetched(_));
            assert_eq!(fetches == before, needs_no_fetch, "{case}");
        }
    }
}

/// A token that was verified before gets its verdict at the first poll, whatever requests with made-up keys cause.
#[test]
fn known_token_is_verified_without_waiting() {
    for issuer in BEHAVIORS {
        let fixture = with_keys(Keys::Fetched);
        let known = with_claims(&json!({}));
        assert_eq!(observe(&fixture, &known), Verified);
        fixture.source.set_behavior(behavior(issuer));
        for number in 0..1000 {
            observe(&fixture, &with_header(&json!({ "kid": format!("made up {number}") })));
            assert_eq!(observe(&fixture, &known), Verified, "{issuer}");
        }
        assert_eq!(fixture.source.fetches(), 2, "{issuer}: one fetch in ten seconds");
    }
}

/// Ten thousand tokens in a second, each with another key, cause one fetch in ten seconds, and none of them is cached.
#[test]
fn unknown_keys_cause_one_fetch_without_caching() {
    let known = with_claims(&json!({}));
    let (_, rest) = known.split_once('.').unwrap();
    // The signature does not matter: without a key it is not verified.
    let made_up = |number: usize| {
        let header = patch(ES256.header(), &json!({ "kid": format!("made up {number}") }));
        format!("{}.{rest}", base64(header.to_string()))
    };
    for (issuer, expected) in [("unchanged", Refused), ("unreachable", Unavailable), ("hangs", Waits)] {
        let fixture = with_keys(Keys::Fetched);
        assert_eq!(observe(&fixture, &known), Verified);
        fixture.source.set_behavior(behavior(issuer));
        for number in 0..10_000 {
            assert_eq!(observe(&fixture, &made_up(number)), expected, "{issuer}, {number}");
            if number % 10 == 9 {
                fixture.advance(Duration::from_millis(1));
            }
        }
        assert_eq!(fixture.source.fetches(), 2, "{issuer}");
        assert_eq!(fixture.tokens.0.cache.len(), 1, "{issuer}");
        assert_eq!(observe(&fixture, &known), Verified);
        fixture.advance(9 * SECOND - Duration::from_millis(1));
        observe(&fixture, &made_up(10_000));
        assert_eq!(fixture.source.fetches(), 2, "{issuer}, within ten seconds");
        fixture.advance(Duration::from_millis(1));
        for number in 10_000..10_100 {
            observe(&fixture, &made_up(number));
        }
        assert_eq!(fixture.source.fetches(), 3, "{issuer}, after ten seconds");
    }
}

//! Fetches of the key set (decisions O24 to O26), on clocks that only tests advance.

use std::pin::pin;
use std::slice;
use std::task::Poll;
use std::time::Duration;

use serde_json::json;

use super::super::KeysStatus;
use super::fixture::*;
use crate::auth::{Refusal, Verdict};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

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
fn behaviors() -> [(&'static str, Behavior); 6] {
    [
        ("unchanged", Behavior::Responds(set_of(&[&ES256]))),
        ("rotated", rotated()),
        ("unreachable", Behavior::Fails),
        ("invalid", Behavior::Responds(r#"{"keys":[]}"#.into())),
        ("panics", Behavior::Panics),
        ("hangs", Behavior::Hangs),
    ]
}

fn rotated() -> Behavior {
    Behavior::Responds(set_of(&[&ES256, &OTHER_ES256]))
}

/// Creates a fixture with `keys`. Unless they are [`Keys::Never`], a refresh task has fetched them.
fn with_keys(keys: Keys) -> Fixture {
    let fixture = Fixture::with_set(set_of(&[&ES256]));
    if !matches!(keys, Keys::Never) {
        fixture.refresh();
    }
    match keys {
        Keys::Fetched | Keys::Never => {}
        Keys::TooOld => fixture.advance(DAY + MILLISECOND),
        Keys::Refetched(succeeds) => {
            if !succeeds {
                fixture.source.set_behavior(Behavior::Fails);
            }
            assert_eq!(ready(fixture.authenticate(&unknown(0))).is_ok(), succeeds);
            fixture.advance(10 * SECOND - MILLISECOND);
        }
    }
    fixture
}

/// Creates a fixture whose task has just refreshed the set. `next` is the issuer's next response.
fn with_task(next: Behavior) -> Fixture {
    let fixture = Fixture::new();
    fixture.refresh();
    fixture.source.set_behavior(next);
    fixture
}

/// Returns a token whose `kid` is in no set. Each `number` has its own `kid`.
fn unknown(number: usize) -> String {
    with_header(&json!({ "kid": format!("unknown-{number}") }))
}

fn known() -> String {
    with_claims(&json!({ "exp": NOW + 10_000_000 }))
}

#[track_caller]
fn observe(fixture: &Fixture, token: &str) -> Observed {
    match poll(pin!(fixture.authenticate(token))) {
        Poll::Pending => Waits,
        Poll::Ready(Ok(Verdict::Accepted(_))) => Verified,
        Poll::Ready(Ok(Verdict::Refused(Refusal::Invalid, Some(explanation)))) if explanation.code == "key" => Refused,
        Poll::Ready(Err(error)) => {
            assert_eq!(error.kind(), crate::storage::StorageErrorKind::Unavailable);
            assert!(error.to_string().contains(ISSUER) && !error.to_string().contains(token), "{error}");
            Unavailable
        }
        Poll::Ready(other) => panic!("{other:?}"),
    }
}

/// All cases of decision O25.
#[test]
fn outcome_by_key_state_and_issuer_behavior() {
    let known = known();
    let unknown = OTHER_ES256.token(&OTHER_ES256.header(), &patch(claims(), &json!({ "exp": NOW + 10_000_000 })));
    // By the issuer's behavior, in the order of `behaviors`.
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
        for ((issuer, behavior), expected) in behaviors().into_iter().zip(expected) {
            let fixture = with_keys(keys);
            fixture.source.set_behavior(behavior);
            let before = fixture.source.count();
            let case = format!("{keys:?}, {issuer}, known: {}", *token == known);
            // A failed fetch is repeated after ten seconds at the earliest; a known key is not fetched again.
            for _ in 0..2 {
                assert_eq!(observe(&fixture, token), expected, "{case}");
            }
            let needs_no_fetch =
                *token == known && !matches!(keys, Keys::Never | Keys::TooOld) || matches!(keys, Keys::Refetched(_));
            assert_eq!(fixture.source.count() - before, usize::from(!needs_no_fetch), "{case}");
            fixture.source.set_behavior(rotated());
            fixture.advance(10 * SECOND);
            assert_eq!(observe(&fixture, token), Verified, "{case}, later");
        }
    }
}

/// A thousand tokens in a second, each with another key, cause one fetch in ten seconds. None of them is cached, and none
/// delays a token that was verified before.
#[test]
fn unknown_keys_cause_one_fetch_without_caching_or_delays() {
    let known = with_claims(&json!({}));
    let (_, rest) = known.split_once('.').unwrap();
    // The signature does not matter: without a key it is not verified.
    let made_up = |number: usize| {
        let header = patch(ES256.header(), &json!({ "kid": format!("made up {number}") }));
        format!("{}.{rest}", base64(header.to_string()))
    };
    let outcomes = [Refused, Refused, Unavailable, Unavailable, Unavailable, Waits];
    for ((issuer, behavior), expected) in behaviors().into_iter().zip(outcomes) {
        let fixture = with_keys(Keys::Fetched);
        assert_eq!(observe(&fixture, &known), Verified);
        fixture.source.set_behavior(behavior);
        for number in 0..1000 {
            assert_eq!(observe(&fixture, &made_up(number)), expected, "{issuer}, {number}");
            assert_eq!(observe(&fixture, &known), Verified, "{issuer}, {number}");
            fixture.advance(MILLISECOND);
        }
        assert_eq!((fixture.source.count(), fixture.tokens.0.cache.len()), (2, 1), "{issuer}");
        fixture.advance(9 * SECOND - MILLISECOND);
        observe(&fixture, &made_up(1000));
        assert_eq!(fixture.source.count(), 2, "{issuer}, within ten seconds");
        fixture.advance(MILLISECOND);
        for number in 1000..1100 {
            observe(&fixture, &made_up(number));
        }
        assert_eq!(fixture.source.count(), 3, "{issuer}, after ten seconds");
    }
}

/// After a day without a new set, requests fetch it, even if their token is cached: ten seconds after the task's last failure at the earliest.
#[test]
fn key_set_is_used_for_one_day() {
    let fixture = with_task(Behavior::Fails);
    let token = known();
    fixture.advance(DAY);
    fixture.refresh();
    fixture.accepts_as("accepted", &token);
    for pause in [MILLISECOND, 10 * SECOND - 2 * MILLISECOND] {
        fixture.advance(pause);
        assert_eq!(observe(&fixture, &token), Unavailable);
        assert_eq!(fixture.verdict_and_outcomes(&token).1, ["unavailable"]);
        fixture.source.set_response(every_key());
    }
    assert_eq!(fixture.source.count(), 2);
    fixture.advance(MILLISECOND);
    fixture.accepts(&token);
    assert_eq!(fixture.source.count(), 3);
}

#[test]
fn key_set_status_is_reported() {
    let private = patch(ES384.jwk(), &json!({ "d": "secret" }));
    let fixture = Fixture::with_set(set([ES256.jwk(), private]));
    assert_eq!((fixture.tokens.keys(), fixture.tokens.skipped_keys()), (KeysStatus::default(), vec![]));
    fixture.refresh();
    fixture.advance(7 * SECOND);
    let mut status = KeysStatus { usable: 1, age: Some(7 * SECOND), fetched: 1, failed: 0 };
    assert_eq!((fixture.tokens.keys(), fixture.tokens.last_failure()), (status, None));
    assert_eq!(fixture.tokens.skipped_keys(), [r#""es384": private key"#]);
    for bad in ["", r#"{"keys":[]}"#, r#"{"keys":[{"kty":"oct","k":"AA"}]}"#] {
        fixture.source.set_response(bad);
        fixture.refresh();
        status.failed += 1;
        assert_eq!(fixture.tokens.keys(), status);
        assert!(fixture.tokens.last_failure().unwrap().contains("key set"));
    }
    fixture.source.set_response(every_key());
    fixture.refresh();
    assert_eq!((fixture.tokens.keys().usable, fixture.tokens.last_failure()), (4, None));
}

#[test]
fn refresh_backs_off_after_failures_and_jitters_otherwise() {
    let fixture = Fixture::with_behavior(Behavior::Fails);
    for delay in [5, 10, 20, 40, 60, 60, 60] {
        assert_eq!(fixture.refresh(), delay * SECOND);
    }
    fixture.source.set_response(every_key());
    let mut waits: Vec<_> = (0..100).map(|_| fixture.refresh()).collect();
    assert!(waits.iter().all(|wait| (270 * SECOND..=330 * SECOND).contains(wait)), "{waits:?}");
    waits.dedup();
    assert!(waits.len() > 50, "all servers would refresh at the same time: {waits:?}");
    fixture.source.set_behavior(Behavior::Fails);
    assert_eq!(fixture.refresh(), 5 * SECOND);
}

/// Without a task, a request first refetches a set that is at least five minutes old. The first such request logs a warning.
#[test]
fn requests_fetch_without_refresh_task() {
    let (fixture, token) = (Fixture::new(), known());
    let warnings = || {
        let lines = logs(|| drop(fixture.accepts(&token)));
        lines.into_iter().filter(|line| line.starts_with("WARN")).collect::<Vec<_>>()
    };
    assert_eq!(warnings(), [""; 0], "a task may still start");
    fixture.advance(300 * SECOND - MILLISECOND);
    fixture.accepts(&token);
    assert_eq!(fixture.source.count(), 1);
    fixture.advance(MILLISECOND);
    let [warning] = &warnings()[..] else { panic!("one warning") };
    assert!(warning.contains("SignedTokens::refresh") && warning.contains(ISSUER), "{warning}");
    fixture.accepts(&token);
    assert_eq!(fixture.source.count(), 2);
    fixture.advance(300 * SECOND);
    assert_eq!(warnings(), [""; 0]);
    // A fetch that fails leaves the set in use, and is retried after ten seconds.
    fixture.source.set_behavior(Behavior::Fails);
    fixture.advance(300 * SECOND);
    for count in [4, 4, 5, 5] {
        fixture.accepts(&token);
        fixture.accepts(&token);
        assert_eq!(fixture.source.count(), count);
        fixture.advance(5 * SECOND);
    }
}

/// While a task refreshes on time, or a little late, no request waits for a fetch.
#[test]
fn requests_do_not_fetch_while_task_refreshes() {
    let fixture = with_task(Behavior::Fails);
    let token = known();
    for number in 0..50 {
        let behavior = if number % 2 == 0 { Behavior::Responds(every_key()) } else { Behavior::Fails };
        fixture.source.set_behavior(behavior);
        let delay = fixture.refresh();
        let count = fixture.source.count();
        fixture.advance(delay + 25 * SECOND);
        fixture.accepts(&token);
        assert_eq!(fixture.source.count(), count);
    }
}

/// While the refresh task sleeps, neither a failed extra refresh nor a failed fetch for a made-up key delays known keys.
#[test]
fn failed_fetch_does_not_delay_known_keys() {
    for is_refresh in [true, false] {
        let fixture = with_task(Behavior::Fails);
        if is_refresh {
            fixture.refresh();
        } else {
            assert_eq!(observe(&fixture, &unknown(0)), Unavailable);
        }
        fixture.source.set_behavior(Behavior::Hangs);
        for _ in 0..5 {
            fixture.advance(50 * SECOND);
            fixture.accepts(&known());
        }
        assert_eq!(fixture.source.count(), 2);
    }
}

/// A token without `kid` that no key verifies may be signed with a new key, like a token with an unknown `kid`.
#[test]
fn new_key_is_fetched_for_token_without_kid() {
    let without_kid = |signer: &Signer| signer.token(&patch(signer.header(), &json!({ "kid": null })), &claims());
    let (known, new) = (without_kid(&ES256), without_kid(&OTHER_ES256));
    let fixture = with_task(rotated());
    fixture.accepts(&known);
    assert_eq!(fixture.source.count(), 1);
    fixture.accepts(&new);
    assert_eq!(fixture.source.count(), 2);
    // Requests start at most one fetch in ten seconds, whether for tokens with or without `kid`.
    let forged = format!("{}.{}", new.rsplit_once('.').unwrap().0, "A".repeat(86));
    fixture.refuses("forged", &forged, "signature");
    fixture.refuses("made up", &unknown(0), "key");
    assert_eq!(fixture.source.count(), 2);
    let fixture = with_task(Behavior::Fails);
    for _ in 0..2 {
        assert_eq!(observe(&fixture, &new), Unavailable);
    }
    fixture.accepts(&known);
    assert_eq!(fixture.source.count(), 2);
}

#[test]
fn each_key_change_is_logged_once() {
    let key = |more| patch(ES256.jwk(), &more);
    let (one, other) = (key(json!({})), key(json!({ "kid": "other" })));
    let (encrypts, private) = (key(json!({ "kid": "e", "use": "enc" })), key(json!({ "kid": "p", "d": "hunter2" })));
    let set = |keys: &[_]| Behavior::Responds(set(keys.iter().cloned()));
    let fixture = Fixture::new();
    for (behavior, logged) in [
        (Behavior::Fails, &[r#"WARN error="unreachable" has_keys=false"#][..]),
        (Behavior::Fails, &[]),
        (set(slice::from_ref(&one)), &["INFO", r#"INFO usable=1 added=["es256"] removed=[]"#]),
        (set(slice::from_ref(&one)), &[]),
        (set(&[one.clone(), private.clone(), encrypts.clone()]), &[r#"WARN kid=Some("p")"#]),
        (set(&[private, one.clone(), encrypts]), &[]),
        (Behavior::Fails, &[r#"WARN error="unreachable" has_keys=true"#]),
        (Behavior::Fails, &[]),
        (set(&[one, other.clone()]), &["INFO", r#"INFO usable=2 added=["other"] removed=[]"#]),
        (set(&[other]), &[r#"INFO usable=1 added=[] removed=["es256"]"#]),
    ] {
        fixture.source.set_behavior(behavior);
        let lines = logs(|| {
            fixture.refresh();
        });
        let fields = lines.iter().map(|line| {
            assert!(!line.contains("hunter2"), "{line}");
            let (logged, fields) = line.split_once(&format!(" issuer={ISSUER:?}")).expect("the issuer of the keys");
            logged.split(' ').next().unwrap().to_owned() + fields
        });
        assert_eq!(fields.collect::<Vec<_>>(), logged);
    }
}

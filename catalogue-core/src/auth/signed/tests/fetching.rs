//! Fetches of the key set (decisions O24 to O26), on clocks that only tests advance. `table.rs` has all cases of O25.

use std::time::Duration;

use serde_json::json;

use super::fixture::*;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const SECOND: Duration = Duration::from_secs(1);

/// Returns a token whose `kid` is in no set. Each `number` has its own `kid`.
fn unknown(number: usize) -> String {
    with_header(&json!({ "kid": format!("unknown-{number}") }))
}

fn known() -> String {
    with_claims(&json!({ "exp": NOW + 10_000_000, "jti": "known" }))
}

/// Creates a fixture whose task has just refreshed the set. `next` is the issuer's next response.
fn with_task(next: Behavior) -> Fixture {
    let fixture = Fixture::new();
    block_on(fixture.tokens.refresh());
    assert_eq!(fixture.source.fetches(), 1);
    fixture.source.set_behavior(next);
    fixture
}

/// Asserts that the token cannot be checked now, which causes a 500.
#[track_caller]
fn assert_unavailable(fixture: &Fixture, token: &str) {
    let (verdict, outcomes) = fixture.verdict_and_outcomes(token);
    let error = verdict.unwrap_err();
    assert_eq!(error.kind(), crate::storage::StorageErrorKind::Unavailable);
    assert!(error.to_string().contains(ISSUER) && !error.to_string().contains(token), "{error}");
    assert_eq!(outcomes, ["unavailable"]);
}

#[test]
fn skipped_keys_are_listed() {
    let private = patch(ES384.jwk(), &json!({ "d": "secret" }));
    let fixture = Fixture::with_behavior(Behavior::Set(set([ES256.jwk(), private])), |builder| builder);
    assert_eq!(fixture.tokens.skipped_keys(), [""; 0]);
    block_on(fixture.tokens.refresh());
    assert_eq!(fixture.tokens.skipped_keys(), [r#""es384": private key"#]);
}

#[test]
fn known_key_works_while_refreshes_fail() {
    let fixture = with_task(Behavior::Fails);
    for _ in 0..3 {
        fixture.accepts(&known());
        block_on(fixture.tokens.refresh());
        fixture.advance(DAY / 4);
    }
    fixture.accepts(&known());
}

#[test]
fn key_set_is_used_for_one_day() {
    let fixture = with_task(Behavior::Fails);
    let token = known();
    fixture.advance(DAY);
    fixture.accepts(&token);
    fixture.advance(SECOND);
    assert_unavailable(&fixture, &token);
}

#[test]
fn unknown_key_causes_one_refetch() {
    let fixture = with_task(Behavior::Set(set_of(&[&ES256, &OTHER_ES256])));
    fixture.accepts(&OTHER_ES256.token(&OTHER_ES256.header(), &claims()));
    assert_eq!(fixture.source.fetches(), 2);
    // For ten seconds, requests start no other fetch. Since the last one succeeded, unknown keys are refused.
    for number in 0..100 {
        fixture.refuses("made up", &unknown(number), "key");
    }
    assert_eq!(fixture.source.fetches(), 2);
    fixture.advance(10 * SECOND);
    fixture.refuses("made up", &unknown(0), "key");
    fixture.refuses("made up", &unknown(1), "key");
    assert_eq!(fixture.source.fetches(), 3);
    fixture.accepts(&known());
}

#[test]
fn unknown_key_fails_while_issuer_is_unavailable() {
    let fixture = with_task(Behavior::Fails);
    assert_unavailable(&fixture, &unknown(0));
    assert_eq!(fixture.source.fetches(), 2);
    fixture.source.set_behavior(Behavior::Set(every_key()));
    assert_unavailable(&fixture, &unknown(1));
    assert_eq!(fixture.source.fetches(), 2);
    fixture.accepts(&known());
    fixture.advance(10 * SECOND);
    fixture.refuses("made up", &unknown(1), "key");
    assert_eq!(fixture.source.fetches(), 3);
}

#[test]
fn first_request_fetches_missing_key_set() {
    let fixture = Fixture::new();
    fixture.accepts(&known());
    assert_eq!(fixture.source.fetches(), 1);
    let fixture = Fixture::new();
    fixture.refuses("made up", &unknown(0), "key");
    fixture.refuses("made up", &unknown(1), "key");
    assert_eq!(fixture.source.fetches(), 1);
}

#[test]
fn requests_fail_without_key_set_and_issuer() {
    let fixture = Fixture::with_behavior(Behavior::Fails, |builder| builder);
    for token in [known(), unknown(0), known()] {
        assert_unavailable(&fixture, &token);
    }
    assert_eq!(fixture.source.fetches(), 1);
    fixture.source.set_behavior(Behavior::Set(every_key()));
    fixture.advance(10 * SECOND - Duration::from_millis(1));
    assert_unavailable(&fixture, &known());
    assert_eq!(fixture.source.fetches(), 1);
    fixture.advance(Duration::from_millis(1));
    fixture.accepts(&known());
    assert_eq!(fixture.source.fetches(), 2);
}

#[test]
fn outdated_key_set_is_not_used() {
    let fixture = with_task(Behavior::Fails);
    fixture.advance(DAY + SECOND);
    block_on(fixture.tokens.refresh());
    assert_unavailable(&fixture, &known());
    assert_eq!(fixture.source.fetches(), 2);
    fixture.source.set_behavior(Behavior::Set(every_key()));
    fixture.advance(10 * SECOND);
    fixture.accepts(&known());
}

#[test]
fn refused_header_causes_no_fetch() {
    let fixture = Fixture::new();
    fixture.refuses("alg", &with_header(&json!({ "alg": "none", "kid": "x" })), "alg");
    fixture.refuses("typ", &with_header(&json!({ "typ": "JWT", "kid": "x" })), "typ");
    fixture.refuses("crit", &with_header(&json!({ "crit": [], "kid": "x" })), "crit");
    assert_eq!(fixture.source.fetches(), 0);
}

#[test]
fn invalid_key_set_counts_as_failed_fetch() {
    for bad in ["", r#"{"keys":[]}"#, r#"{"keys":[{"kty":"oct","k":"AA"}]}"#] {
        let fixture = Fixture::with_behavior(Behavior::Set(bad.into()), |builder| builder);
        assert_unavailable(&fixture, &known());
        assert_eq!((fixture.tokens.keys().fetched, fixture.tokens.keys().failed), (0, 1));
        assert!(fixture.tokens.last_failure().unwrap().contains("key set"));
    }
    let fixture = with_task(Behavior::Set(r#"{"keys":[]}"#.into()));
    block_on(fixture.tokens.refresh());
    fixture.accepts(&known());
    assert_eq!((fixture.tokens.keys().fetched, fixture.tokens.keys().failed), (1, 1));
    fixture.source.set_behavior(Behavior::Set(every_key()));
    block_on(fixture.tokens.refresh());
    assert_eq!(fixture.tokens.last_failure(), None);
}

/// A fetch that panics leaves no request waiting.
#[test]
fn panicking_fetch_counts_as_failed_fetch() {
    let fixture = Fixture::with_behavior(Behavior::Panics, |builder| builder);
    assert_unavailable(&fixture, &known());
    block_on(fixture.tokens.refresh());
    fixture.source.set_behavior(Behavior::Set(every_key()));
    fixture.advance(10 * SECOND);
    fixture.accepts(&known());
}

#[test]
fn refresh_backs_off_after_failures_and_jitters_otherwise() {
    let fixture = Fixture::with_behavior(Behavior::Fails, |builder| builder);
    let delays = [5, 10, 20, 40, 60, 60, 60];
    for delay in delays {
        assert_eq!(block_on(fixture.tokens.refresh()), delay * SECOND);
    }
    fixture.source.set_behavior(Behavior::Set(every_key()));
    let mut waits: Vec<_> = (0..100).map(|_| block_on(fixture.tokens.refresh())).collect();
    assert!(waits.iter().all(|wait| (270 * SECOND..=330 * SECOND).contains(wait)), "{waits:?}");
    waits.dedup();
    assert!(waits.len() > 50, "all servers would refresh at the same time: {waits:?}");
    fixture.source.set_behavior(Behavior::Fails);
    assert_eq!(block_on(fixture.tokens.refresh()), 5 * SECOND);
}

/// Without a task, a request first refetches a set that is at least five minutes old.
#[test]
fn requests_fetch_without_refresh_task() {
    let fixture = Fixture::new();
    let token = known();
    fixture.accepts(&token);
    fixture.advance(300 * SECOND - Duration::from_millis(1));
    fixture.accepts(&token);
    assert_eq!(fixture.source.fetches(), 1);
    fixture.advance(Duration::from_millis(1));
    fixture.accepts(&token);
    fixture.accepts(&token);
    assert_eq!(fixture.source.fetches(), 2);
    // A fetch that fails leaves the set in use, and is retried after ten seconds.
    fixture.source.set_behavior(Behavior::Fails);
    fixture.advance(300 * SECOND);
    for fetches in [3, 3, 4, 4] {
        fixture.accepts(&token);
        fixture.accepts(&token);
        assert_eq!(fixture.source.fetches(), fetches);
        fixture.advance(5 * SECOND);
    }
}

#[test]
fn missing_refresh_task_is_logged_once() {
    let fixture = Fixture::new();
    let fetch = |seconds: u32| {
        fixture.advance(seconds * SECOND);
        logs(|| drop(fixture.accepts(&known()))).into_iter().filter(|line| line.starts_with("WARN")).collect::<Vec<_>>()
    };
    assert_eq!(fetch(0), [""; 0], "a task may still start");
    let [warning] = &fetch(300)[..] else { panic!("one warning") };
    assert!(warning.contains("SignedTokens::refresh") && warning.contains(ISSUER), "{warning}");
    assert_eq!(fetch(300), [""; 0]);
    assert_eq!(fixture.source.fetches(), 3);
}

/// While a task refreshes on time, or a little late, no request waits for a fetch.
#[test]
fn requests_do_not_fetch_while_task_refreshes() {
    let fixture = with_task(Behavior::Set(every_key()));
    let token = known();
    for number in 0..50 {
        let behavior = if number % 2 == 0 { Behavior::Set(every_key()) } else { Behavior::Fails };
        fixture.source.set_behavior(behavior);
        let delay = block_on(fixture.tokens.refresh());
        let fetches = fixture.source.fetches();
        fixture.advance(delay + 25 * SECOND);
        fixture.accepts(&token);
        assert_eq!(fixture.source.fetches(), fetches);
    }
}

#[test]
fn key_set_status_is_reported() {
    let fixture = Fixture::new();
    let status = fixture.tokens.keys();
    assert_eq!((status.usable, status.age, status.fetched, status.failed), (0, None, 0, 0));
    block_on(fixture.tokens.refresh());
    fixture.advance(7 * SECOND);
    let status = fixture.tokens.keys();
    assert_eq!((status.usable, status.age, status.fetched, status.failed), (4, Some(7 * SECOND), 1, 0));
}

/// A token without `kid` that no key verifies may be signed with a new key, like a token with an unknown `kid`.
#[test]
fn new_key_is_fetched_for_token_without_kid() {
    let without_kid = |signer: &Signer| signer.token(&patch(signer.header(), &json!({ "kid": null })), &claims());
    let (known, new) = (without_kid(&ES256), without_kid(&OTHER_ES256));
    let fixture = with_task(Behavior::Set(set_of(&[&ES256, &OTHER_ES256])));
    fixture.accepts(&known);
    assert_eq!(fixture.source.fetches(), 1);
    fixture.accepts(&new);
    assert_eq!(fixture.source.fetches(), 2);
    // Requests start at most one fetch in ten seconds, whether for tokens with or without `kid`.
    let forged = format!("{}.{}", new.rsplit_once('.').unwrap().0, "A".repeat(86));
    fixture.refuses("forged", &forged, "signature");
    fixture.refuses("made up", &unknown(0), "key");
    assert_eq!(fixture.source.fetches(), 2);
    let fixture = with_task(Behavior::Fails);
    assert_unavailable(&fixture, &new);
    assert_unavailable(&fixture, &new);
    fixture.accepts(&known);
    assert_eq!(fixture.source.fetches(), 2);
}

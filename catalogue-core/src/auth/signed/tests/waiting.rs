//! Waiting for a fetch: the requests that wait, and their maximum number (decision O25).

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use serde_json::json;

use super::fixture::*;
use crate::auth::{Refusal, Verdict};

fn token(kid: &str) -> String {
    with_header(&json!({ "kid": kid }))
}

/// Creates a fixture that has a set, and whose issuer hangs now.
fn hanging() -> Fixture {
    let fixture = Fixture::new();
    fixture.refresh();
    fixture.source.set_behavior(Behavior::Hangs);
    fixture
}

#[tokio::test]
async fn concurrent_requests_share_one_fetch() {
    for (behavior, is_accepted) in [(Behavior::Responds(every_key()), true), (Behavior::Fails, false)] {
        let fixture = Arc::new(Fixture::with_behavior(Behavior::Hangs));
        let calls: Vec<_> = (0..64)
            .map(|number| {
                let (fixture, token) = (Arc::clone(&fixture), with_claims(&json!({ "jti": format!("j{number}") })));
                tokio::spawn(async move { fixture.authenticate(&token).await })
            })
            .collect();
        tokio::task::yield_now().await;
        fixture.source.release(1, behavior);
        for call in calls {
            let verdict = call.await.unwrap();
            assert_eq!(matches!(verdict, Ok(Verdict::Accepted(_))), is_accepted, "{verdict:?}");
            assert_eq!(verdict.is_err(), !is_accepted, "{verdict:?}");
        }
        assert_eq!(fixture.source.count(), 1);
    }
}

/// Each waiter holds a connection. Further requests get a 500 immediately. Known keys still verify tokens.
#[test]
fn at_most_64_requests_wait_for_keys() {
    let [fetched, none, old] = [hanging(), Fixture::with_behavior(Behavior::Hangs), hanging()];
    old.advance(400 * SECOND);
    let token = |kid: &str, number: usize| {
        ES256.token(
            &patch(ES256.header(), &json!({ "kid": kid, "x": number })),
            &patch(claims(), &json!({ "exp": NOW + 900 })),
        )
    };
    let known = token("es256", 0);
    for (name, fixture, kid) in
        [("unknown kid", &fetched, "unknown"), ("no keys", &none, "es256"), ("old", &old, "es256")]
    {
        let tokens: Vec<_> = (0..65).map(|number| token(kid, number)).collect();
        let mut waiting: Vec<_> = tokens[1..].iter().map(|token| Box::pin(fixture.authenticate(token))).collect();
        assert!(waiting.iter_mut().all(|call| poll(call.as_mut()).is_pending()), "{name}");
        match ready(fixture.authenticate(&tokens[0])) {
            Ok(Verdict::Accepted(_)) if name == "old" => {}
            Err(error) if name != "old" => {
                assert!(error.to_string().contains("64 requests already wait for them"), "{name}: {error}");
            }
            other => panic!("{name}: {other:?}"),
        }
        // A waiter that disconnects frees its permit. The refresh task needs no permit.
        waiting.pop();
        let mut task = pin!(fixture.tokens.refresh());
        assert!(poll(task.as_mut()).is_pending(), "{name}");
        assert!(poll(pin!(fixture.authenticate(&tokens[0]))).is_pending(), "{name}");
        if name == "unknown kid" {
            fixture.accepts(&known);
        }
        fixture.source.release(1, Behavior::Responds(every_key()));
        for call in &mut waiting {
            let Poll::Ready(Ok(verdict)) = poll(call.as_mut()) else { panic!("{name}") };
            assert_eq!(matches!(verdict, Verdict::Accepted(_)), kid == "es256", "{name}: {verdict:?}");
        }
    }
}

#[test]
fn dropped_fetch_is_continued_by_waiter_or_next_request() {
    let tokens: Vec<_> = (0..50).map(|number| token(&format!("unknown-{number}"))).collect();
    for is_waiter in [true, false] {
        let fixture = hanging();
        let mut last = pin!(fixture.authenticate(&tokens[0]));
        for token in &tokens {
            let mut dropped = pin!(fixture.authenticate(token));
            assert!(poll(dropped.as_mut()).is_pending());
            assert!(!is_waiter || poll(last.as_mut()).is_pending());
        }
        assert!(poll(last.as_mut()).is_pending());
        fixture.source.release(1, Behavior::Responds(set_of(&[&ES256, &OTHER_ES256])));
        assert!(matches!(poll(last), Poll::Ready(Ok(Verdict::Refused(_, Some(_))))));
        fixture.accepts(&OTHER_ES256.token(&OTHER_ES256.header(), &claims()));
        assert_eq!(fixture.source.count(), 2);
    }
}

/// If a fetch takes more than ten seconds, its waiters do not wait for a second one.
#[test]
fn waiter_does_not_wait_for_second_fetch() {
    let fixture = hanging();
    let (one, other) = (token("one"), token("other"));
    let (mut leader, mut waiting) = (pin!(fixture.authenticate(&one)), pin!(fixture.authenticate(&other)));
    assert!(poll(leader.as_mut()).is_pending() && poll(waiting.as_mut()).is_pending());
    fixture.advance(60 * SECOND);
    fixture.source.release(1, Behavior::Responds(every_key()));
    assert!(poll(leader).is_ready());
    assert!(matches!(poll(waiting), Poll::Ready(Ok(Verdict::Refused(_, Some(_))))));
    assert_eq!(fixture.source.count(), 2);
}

/// A refresh needs the keys that are published now, so it starts a fetch even if an older one is pending.
#[test]
fn refresh_does_not_join_older_fetch() {
    let fixture = hanging();
    let unknown_key_token = token("unknown");
    let (mut call, mut refresh) = (pin!(fixture.authenticate(&unknown_key_token)), pin!(fixture.tokens.refresh()));
    assert!(poll(call.as_mut()).is_pending());
    fixture.advance(MILLISECOND);
    assert!(poll(refresh.as_mut()).is_pending());
    assert_eq!(fixture.source.count(), 3);
    // The older fetch ends last, and its set is not used.
    fixture.source.release(1, Behavior::Responds(every_key()));
    assert!(poll(refresh.as_mut()).is_pending(), "the older fetch is released first");
    fixture.source.release(1, Behavior::Responds(set_of(&[&OTHER_ES256])));
    assert!(poll(refresh).is_ready());
    fixture.source.set_response(every_key());
    assert!(matches!(poll(call), Poll::Ready(Ok(Verdict::Refused(_, Some(_))))));
    fixture.refuses("its key was removed", &token("es256"), "key");
}

/// The expiry is compared with the time after the wait.
#[test]
fn cached_token_that_expires_during_wait_is_refused() {
    let fixture = Fixture::new();
    let token = with_claims(&json!({ "exp": NOW + 302 }));
    fixture.accepts(&token);
    fixture.source.set_behavior(Behavior::Hangs);
    fixture.advance(300 * SECOND);
    let mut waiting = pin!(fixture.authenticate(&token));
    assert!(poll(waiting.as_mut()).is_pending());
    fixture.advance(2 * SECOND);
    fixture.source.release(1, Behavior::Responds(every_key()));
    let Poll::Ready(Ok(Verdict::Refused(refusal, Some(_)))) = poll(waiting) else { panic!("not refused") };
    assert_eq!(refusal, Refusal::Expired);
}

//! Waiting for a fetch: the requests that wait, and their maximum number (decision O25).

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use serde_json::json;

use super::fixture::*;
use crate::auth::Verdict;

fn token(kid: &str) -> String {
    with_header(&json!({ "kid": kid }))
}

/// Polls `future` once, without a runtime.
fn poll<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Poll<T> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Creates a fixture that has a set, and whose issuer hangs now.
fn hanging() -> Fixture {
    let fixture = Fixture::new();
    block_on(fixture.tokens.refresh());
    fixture.source.set_behavior(Behavior::Hangs);
    fixture
}

#[tokio::test]
async fn concurrent_requests_share_one_fetch() {
    let fixture = Arc::new(Fixture::with_behavior(Behavior::Hangs, |builder| builder));
    let calls: Vec<_> = (0..64)
        .map(|number| {
            let fixture = Arc::clone(&fixture);
            let token = with_claims(&json!({ "jti": format!("j{number}") }));
            tokio::spawn(async move { fixture.authenticate(&token).await })
        })
        .collect();
    tokio::task::yield_now().await;
    fixture.source.set_behavior(Behavior::Set(every_key()));
    fixture.source.release();
    for call in calls {
        assert!(matches!(call.await.unwrap(), Ok(Verdict::Accepted(_))));
    }
    assert_eq!(fixture.source.fetches(), 1);
}

#[tokio::test]
async fn waiters_fail_when_shared_fetch_fails() {
    let fixture = Arc::new(Fixture::new());
    fixture.tokens.refresh().await;
    fixture.source.set_behavior(Behavior::Hangs);
    let calls: Vec<_> = (0..64)
        .map(|number| {
            let (fixture, token) = (Arc::clone(&fixture), token(&format!("unknown-{number}")));
            tokio::spawn(async move { fixture.authenticate(&token).await })
        })
        .collect();
    tokio::task::yield_now().await;
    fixture.source.set_behavior(Behavior::Fails);
    fixture.source.release();
    for call in calls {
        assert!(call.await.unwrap().is_err());
    }
    assert_eq!(fixture.source.fetches(), 2);
}

/// Each waiter holds a connection. Further requests get a 500 immediately. Known keys still verify tokens.
#[test]
fn at_most_64_requests_wait_for_keys() {
    let [fetched, none, old] = [hanging(), Fixture::with_behavior(Behavior::Hangs, |builder| builder), hanging()];
    old.advance(Duration::from_secs(400));
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
        match poll(pin!(fixture.authenticate(&tokens[0]))) {
            Poll::Ready(Ok(Verdict::Accepted(_))) if name == "old" => {}
            Poll::Ready(Err(error)) if name != "old" => {
                assert!(error.to_string().contains("64 requests already wait for them"), "{name}: {error}");
            }
            other => panic!("{name}: {other:?}"),
        }
        if name != "no keys" {
            assert!(
                matches!(poll(pin!(fixture.authenticate(&known))), Poll::Ready(Ok(Verdict::Accepted(_)))),
                "{name}"
            );
        }
        // A waiter that disconnects frees its permit. The refresh task needs no permit.
        waiting.pop();
        assert!(poll(pin!(fixture.tokens.refresh())).is_pending(), "{name}");
        assert!(poll(pin!(fixture.authenticate(&tokens[0]))).is_pending(), "{name}");
        fixture.source.set_behavior(Behavior::Set(every_key()));
        fixture.source.release();
        assert!(waiting.iter_mut().all(|call| poll(call.as_mut()).is_ready()), "{name}");
    }
}

#[test]
fn request_with_known_key_never_waits() {
    let fixture = hanging();
    let (unknown, known) = (token("unknown"), token("es256"));
    let mut waiting = pin!(fixture.authenticate(&unknown));
    assert!(poll(waiting.as_mut()).is_pending());
    assert!(matches!(poll(pin!(fixture.authenticate(&known))), Poll::Ready(Ok(Verdict::Accepted(_)))));
    let mut task = pin!(fixture.tokens.refresh());
    assert!(poll(task.as_mut()).is_pending());
    assert!(matches!(poll(pin!(fixture.authenticate(&known))), Poll::Ready(Ok(Verdict::Accepted(_)))));
}

/// While a task refreshes the set, a failed fetch for a made-up key does not delay known keys.
#[test]
fn failed_fetch_does_not_delay_known_keys() {
    let fixture = hanging();
    fixture.source.set_behavior(Behavior::Fails);
    assert!(block_on(fixture.authenticate(&token("unknown"))).is_err());
    fixture.source.set_behavior(Behavior::Hangs);
    for _ in 0..4 {
        fixture.advance(Duration::from_secs(60));
        assert!(matches!(poll(pin!(fixture.authenticate(&token("es256")))), Poll::Ready(Ok(Verdict::Accepted(_)))));
    }
    assert_eq!(fixture.source.fetches(), 2);
}

#[test]
fn dropped_fetch_is_continued_by_next_request() {
    let fixture = hanging();
    let tokens: Vec<_> = (0..50).map(|number| token(&format!("unknown-{number}"))).collect();
    for token in &tokens {
        assert!(poll(pin!(fixture.authenticate(token))).is_pending());
    }
    assert_eq!(fixture.source.fetches(), 2);
    let mut next = pin!(fixture.authenticate(&tokens[0]));
    assert!(poll(next.as_mut()).is_pending());
    fixture.source.set_behavior(Behavior::Set(set_of(&[&ES256, &OTHER_ES256])));
    fixture.source.release();
    assert!(matches!(poll(next), Poll::Ready(Ok(Verdict::Refused(_, Some(_))))));
    assert_eq!(fixture.source.fetches(), 2);
    let other = OTHER_ES256.token(&OTHER_ES256.header(), &claims());
    fixture.accepts(&other);
}

#[test]
fn waiter_takes_over_when_leader_is_dropped() {
    let fixture = hanging();
    let (one, other) = (token("one"), token("other"));
    let mut waiting = pin!(fixture.authenticate(&other));
    {
        let mut leader = pin!(fixture.authenticate(&one));
        assert!(poll(leader.as_mut()).is_pending());
        assert!(poll(waiting.as_mut()).is_pending());
    }
    fixture.source.set_behavior(Behavior::Fails);
    fixture.source.release();
    assert!(matches!(poll(waiting.as_mut()), Poll::Ready(Err(_))));
    assert_eq!(fixture.source.fetches(), 2);
}

#[test]
fn abandoned_fetch_is_restarted_after_ten_seconds() {
    let fixture = hanging();
    assert!(poll(pin!(fixture.authenticate(&token("one")))).is_pending());
    fixture.advance(Duration::from_secs(10));
    assert!(poll(pin!(fixture.authenticate(&token("two")))).is_pending());
    assert_eq!(fixture.source.fetches(), 3);
}

/// If a fetch takes more than ten seconds, its waiters do not wait for a second one.
#[test]
fn waiter_does_not_wait_for_second_fetch() {
    let fixture = hanging();
    let (one, other) = (token("one"), token("other"));
    let (mut leader, mut waiting) = (pin!(fixture.authenticate(&one)), pin!(fixture.authenticate(&other)));
    assert!(poll(leader.as_mut()).is_pending() && poll(waiting.as_mut()).is_pending());
    fixture.advance(Duration::from_secs(60));
    fixture.source.set_behavior(Behavior::Set(every_key()));
    fixture.source.release();
    assert!(poll(leader).is_ready());
    assert!(matches!(poll(waiting), Poll::Ready(Ok(Verdict::Refused(_, Some(_))))));
    assert_eq!(fixture.source.fetches(), 2);
}

/// A refresh needs the keys that are published now, so it starts a fetch even if an older one is pending.
#[test]
fn refresh_does_not_join_older_fetch() {
    let fixture = hanging();
    let unknown_key_token = token("unknown");
    let (mut call, mut refresh) = (pin!(fixture.authenticate(&unknown_key_token)), pin!(fixture.tokens.refresh()));
    assert!(poll(call.as_mut()).is_pending());
    fixture.advance(Duration::from_millis(1));
    assert!(poll(refresh.as_mut()).is_pending());
    assert_eq!(fixture.source.fetches(), 3);
    // The older fetch ends last, and its set is not used.
    fixture.source.set_behavior(Behavior::Set(every_key()));
    fixture.source.release();
    assert!(poll(refresh.as_mut()).is_pending(), "the older fetch is released first");
    fixture.source.set_behavior(Behavior::Set(set_of(&[&OTHER_ES256])));
    fixture.source.release();
    assert!(poll(refresh).is_ready());
    fixture.source.set_behavior(Behavior::Set(every_key()));
    assert!(matches!(poll(call), Poll::Ready(Ok(Verdict::Refused(_, Some(_))))));
    fixture.refuses("its key was removed", &token("es256"), "key");
}

/// A failed extra refresh does not make requests wait while the refresh task sleeps.
#[test]
fn failed_extra_refresh_does_not_delay_requests() {
    let fixture = hanging();
    fixture.source.set_behavior(Behavior::Fails);
    block_on(fixture.tokens.refresh());
    fixture.source.set_behavior(Behavior::Hangs);
    for _ in 0..5 {
        fixture.advance(Duration::from_secs(50));
        assert!(matches!(poll(pin!(fixture.authenticate(&token("es256")))), Poll::Ready(Ok(Verdict::Accepted(_)))));
    }
}

/// The expiry is compared with the time after the wait.
#[test]
fn cached_token_that_expires_during_wait_is_refused() {
    let fixture = Fixture::new();
    let token = with_claims(&json!({ "exp": NOW + 302 }));
    fixture.accepts(&token);
    fixture.source.set_behavior(Behavior::Hangs);
    fixture.advance(Duration::from_secs(300));
    let mut waiting = pin!(fixture.authenticate(&token));
    assert!(poll(waiting.as_mut()).is_pending());
    fixture.advance(Duration::from_secs(2));
    fixture.source.set_behavior(Behavior::Set(every_key()));
    fixture.source.release();
    let Poll::Ready(Ok(Verdict::Refused(refusal, Some(_)))) = poll(waiting) else { panic!("not refused") };
    assert_eq!(refusal, crate::auth::Refusal::Expired);
}

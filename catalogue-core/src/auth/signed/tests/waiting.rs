//! Waiting for a fetch: which requests wait, and how many (decision O25).

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
async fn one_fetches_for_all() {
    let fixture = Arc::new(Fixture::over(Behavior::Hangs, |builder| builder));
    let calls: Vec<_> = (0..64)
        .map(|number| {
            let fixture = Arc::clone(&fixture);
            let token = with_claims(&json!({ "jti": format!("j{number}") }));
            tokio::spawn(async move { fixture.ask(&token).await })
        })
        .collect();
    tokio::task::yield_now().await;
    fixture.source.set_behavior(Behavior::Set(every_key()));
    fixture.source.release();
    for one in calls {
        assert!(matches!(one.await.unwrap(), Ok(Verdict::Accepted(_))));
    }
    assert_eq!(fixture.source.fetches(), 1);
}

#[tokio::test]
async fn all_who_wait_fail_with_the_one() {
    let fixture = Arc::new(Fixture::new());
    fixture.tokens.refresh().await;
    fixture.source.set_behavior(Behavior::Hangs);
    let calls: Vec<_> = (0..64)
        .map(|number| {
            let (fixture, token) = (Arc::clone(&fixture), token(&format!("unknown-{number}")));
            tokio::spawn(async move { fixture.ask(&token).await })
        })
        .collect();
    tokio::task::yield_now().await;
    fixture.source.set_behavior(Behavior::Fails);
    fixture.source.release();
    for one in calls {
        assert!(one.await.unwrap().is_err());
    }
    assert_eq!(fixture.source.fetches(), 2);
}

/// Each waiter holds a connection. Further ones get a 500 immediately, and tokens with known keys are still verified.
#[test]
fn at_most_64_wait() {
    let [fetched, none, old] = [hanging(), Fixture::over(Behavior::Hangs, |builder| builder), hanging()];
    old.forward(Duration::from_secs(400));
    let token = |kid: &str, number: usize| {
        ES256.token(
            &but(ES256.header(), &json!({ "kid": kid, "x": number })),
            &but(claims(), &json!({ "exp": NOW + 900 })),
        )
    };
    let known = token("es256", 0);
    for (name, fixture, kid) in
        [("unknown kid", &fetched, "unknown"), ("no keys", &none, "es256"), ("old", &old, "es256")]
    {
        let tokens: Vec<_> = (0..65).map(|number| token(kid, number)).collect();
        let mut waiting: Vec<_> = tokens[1..].iter().map(|token| Box::pin(fixture.ask(token))).collect();
        assert!(waiting.iter_mut().all(|one| poll(one.as_mut()).is_pending()), "{name}");
        match poll(pin!(fixture.ask(&tokens[0]))) {
            Poll::Ready(Ok(Verdict::Accepted(_))) if name == "old" => {}
            Poll::Ready(Err(error)) if name != "old" => {
                assert!(error.to_string().contains("64 requests wait for them"), "{name}: {error}");
            }
            other => panic!("{name}: {other:?}"),
        }
        if name != "no keys" {
            assert!(matches!(poll(pin!(fixture.ask(&known))), Poll::Ready(Ok(Verdict::Accepted(_)))), "{name}");
        }
        // A waiter that disconnects makes room, and the task does not count.
        waiting.pop();
        assert!(poll(pin!(fixture.tokens.refresh())).is_pending(), "{name}");
        assert!(poll(pin!(fixture.ask(&tokens[0]))).is_pending(), "{name}");
        fixture.source.set_behavior(Behavior::Set(every_key()));
        fixture.source.release();
        assert!(waiting.iter_mut().all(|one| poll(one.as_mut()).is_ready()), "{name}");
    }
}

#[test]
fn a_known_key_never_waits() {
    let fixture = hanging();
    let (unknown, known) = (token("unknown"), token("es256"));
    let mut waiting = pin!(fixture.ask(&unknown));
    assert!(poll(waiting.as_mut()).is_pending());
    assert!(matches!(poll(pin!(fixture.ask(&known))), Poll::Ready(Ok(Verdict::Accepted(_)))));
    let mut task = pin!(fixture.tokens.refresh());
    assert!(poll(task.as_mut()).is_pending());
    assert!(matches!(poll(pin!(fixture.ask(&known))), Poll::Ready(Ok(Verdict::Accepted(_)))));
}

/// A failed fetch that a made-up key has caused does not delay known keys, while a task refreshes the set.
#[test]
fn a_fetch_that_failed_makes_nobody_else_wait() {
    let fixture = hanging();
    fixture.source.set_behavior(Behavior::Fails);
    assert!(block_on(fixture.ask(&token("unknown"))).is_err());
    fixture.source.set_behavior(Behavior::Hangs);
    for _ in 0..4 {
        fixture.forward(Duration::from_secs(60));
        assert!(matches!(poll(pin!(fixture.ask(&token("es256")))), Poll::Ready(Ok(Verdict::Accepted(_)))));
    }
    assert_eq!(fixture.source.fetches(), 2);
}

/// If the request that fetches disconnects, the next continues the same fetch.
#[test]
fn a_fetch_that_is_dropped_is_gone_on_with() {
    let fixture = hanging();
    let tokens: Vec<_> = (0..50).map(|number| token(&format!("unknown-{number}"))).collect();
    for token in &tokens {
        assert!(poll(pin!(fixture.ask(token))).is_pending());
    }
    assert_eq!(fixture.source.fetches(), 2);
    let mut next = pin!(fixture.ask(&tokens[0]));
    assert!(poll(next.as_mut()).is_pending());
    fixture.source.set_behavior(Behavior::Set(set_of(&[&ES256, &OTHER_ES256])));
    fixture.source.release();
    assert!(matches!(poll(next), Poll::Ready(Ok(Verdict::Refused(_, Some(_))))));
    assert_eq!(fixture.source.fetches(), 2);
    let other = OTHER_ES256.token(&OTHER_ES256.header(), &claims());
    fixture.accepted(&other);
}

/// A waiter continues the fetch of a request that is dropped.
#[test]
fn who_waits_takes_over() {
    let fixture = hanging();
    let (one, other) = (token("one"), token("other"));
    let mut waiting = pin!(fixture.ask(&other));
    {
        let mut fetching = pin!(fixture.ask(&one));
        assert!(poll(fetching.as_mut()).is_pending());
        assert!(poll(waiting.as_mut()).is_pending());
    }
    fixture.source.set_behavior(Behavior::Fails);
    fixture.source.release();
    assert!(matches!(poll(waiting.as_mut()), Poll::Ready(Err(_))));
    assert_eq!(fixture.source.fetches(), 2);
}

#[test]
fn a_fetch_that_nobody_went_on_with_is_begun_anew() {
    let fixture = hanging();
    assert!(poll(pin!(fixture.ask(&token("one")))).is_pending());
    fixture.forward(Duration::from_secs(10));
    assert!(poll(pin!(fixture.ask(&token("two")))).is_pending());
    assert_eq!(fixture.source.fetches(), 3);
}

/// If the issuer hangs for more than ten seconds, no request waits for one fetch after the other.
#[test]
fn who_waited_for_a_fetch_of_the_same_kind_does_not_ask_again() {
    let fixture = hanging();
    let (one, other) = (token("one"), token("other"));
    let (mut fetching, mut waiting) = (pin!(fixture.ask(&one)), pin!(fixture.ask(&other)));
    assert!(poll(fetching.as_mut()).is_pending() && poll(waiting.as_mut()).is_pending());
    fixture.forward(Duration::from_secs(60));
    fixture.source.set_behavior(Behavior::Set(every_key()));
    fixture.source.release();
    assert!(poll(fetching).is_ready());
    assert!(matches!(poll(waiting), Poll::Ready(Ok(Verdict::Refused(_, Some(_))))));
    assert_eq!(fixture.source.fetches(), 2);
}

/// A refresh must not return keys that were published before it.
#[test]
fn a_refresh_does_not_join_an_older_fetch() {
    let fixture = hanging();
    let unknown_key_token = token("unknown");
    let (mut calls, mut refresh) = (pin!(fixture.ask(&unknown_key_token)), pin!(fixture.tokens.refresh()));
    assert!(poll(calls.as_mut()).is_pending());
    fixture.forward(Duration::from_millis(1));
    assert!(poll(refresh.as_mut()).is_pending());
    assert_eq!(fixture.source.fetches(), 3);
    // The older fetch ends last, and its set is not used.
    fixture.source.set_behavior(Behavior::Set(every_key()));
    fixture.source.release();
    assert!(poll(refresh.as_mut()).is_pending(), "the older one is first in the queue");
    fixture.source.set_behavior(Behavior::Set(set_of(&[&OTHER_ES256])));
    fixture.source.release();
    assert!(poll(refresh).is_ready());
    fixture.source.set_behavior(Behavior::Set(every_key()));
    assert!(matches!(poll(calls), Poll::Ready(Ok(Verdict::Refused(_, Some(_))))));
    fixture.refuses("its key is gone", &token("es256"), "key");
}

/// An extra refresh next to the task's does not make requests wait, while the task still sleeps.
#[test]
fn a_refresh_beside_the_task_that_fails_makes_nobody_wait() {
    let fixture = hanging();
    fixture.source.set_behavior(Behavior::Fails);
    block_on(fixture.tokens.refresh());
    fixture.source.set_behavior(Behavior::Hangs);
    for _ in 0..5 {
        fixture.forward(Duration::from_secs(50));
        assert!(matches!(poll(pin!(fixture.ask(&token("es256")))), Poll::Ready(Ok(Verdict::Accepted(_)))));
    }
}

/// The clock is read after the wait.
#[test]
fn a_kept_token_that_ends_while_it_waits_has_expired() {
    let fixture = Fixture::new();
    let token = with_claims(&json!({ "exp": NOW + 302 }));
    fixture.accepted(&token);
    fixture.source.set_behavior(Behavior::Hangs);
    fixture.forward(Duration::from_secs(300));
    let mut waiting = pin!(fixture.ask(&token));
    assert!(poll(waiting.as_mut()).is_pending());
    fixture.forward(Duration::from_secs(2));
    fixture.source.set_behavior(Behavior::Set(every_key()));
    fixture.source.release();
    let Poll::Ready(Ok(Verdict::Refused(refusal, Some(_)))) = poll(waiting) else { panic!("it is taken") };
    assert_eq!(refusal, crate::auth::Refusal::Expired);
}

//! Concurrent introspections: the limit, and single flight (decision O38).

use std::pin::pin;
use std::task::Poll;

use super::fixture::*;
use crate::auth::Verdict;
use crate::chain::chain;

fn responds_with_valid() -> Behavior {
    Behavior::Responds(valid_response().to_string().into())
}

/// Creates a fixture whose issuer hangs.
fn hanging() -> Fixture {
    let fixture = Fixture::accepting();
    fixture.source.set_behavior(Behavior::Hangs);
    fixture
}

#[test]
fn concurrent_requests_with_one_token_share_introspection() {
    let other = "the request that introspected this token failed";
    for (behavior, expected, expected_of_waiters) in [
        (responds_with_valid(), Ok(true), Ok(true)),
        (Behavior::Responds(INACTIVE.into()), Ok(false), Ok(false)),
        (Behavior::Fails, Err("unreachable"), Err(other)),
        (Behavior::Panics, Err("as instructed"), Err(other)),
    ] {
        let fixture = hanging();
        let mut calls: Vec<_> = (0..100).map(|_| Box::pin(fixture.authenticate("opaque"))).collect();
        assert!(calls.iter_mut().all(|call| poll(call.as_mut()).is_pending()));
        fixture.source.release(1, behavior);
        for (number, call) in calls.iter_mut().enumerate() {
            let expected = if number == 0 { expected } else { expected_of_waiters };
            match (poll(call.as_mut()), expected) {
                (Poll::Ready(Ok(Verdict::Accepted(_))), Ok(true))
                | (Poll::Ready(Ok(Verdict::Refused(_, Some(_)))), Ok(false)) => {}
                (Poll::Ready(Err(error)), Err(cause)) => assert!(chain(&error).contains(cause), "{error:?}"),
                other => panic!("{number}: {other:?}"),
            }
        }
        assert_eq!(fixture.source.requests(), ["opaque"]);
        // The response was only for the waiters: it is not cached.
        fixture.refuses_response(INACTIVE, "inactive", "");
    }
}

#[test]
fn waiter_takes_over_when_leader_is_dropped() {
    let fixture = hanging();
    let mut waiting = pin!(fixture.authenticate("opaque"));
    {
        let mut leader = pin!(fixture.authenticate("opaque"));
        assert!(poll(leader.as_mut()).is_pending() && poll(waiting.as_mut()).is_pending());
    }
    fixture.source.set_behavior(responds_with_valid());
    assert!(matches!(poll(waiting), Poll::Ready(Ok(Verdict::Accepted(_)))));
    assert_eq!(fixture.source.count(), 2);
}

#[test]
fn at_most_64_tokens_are_introspected_concurrently() {
    let fixture = hanging();
    let texts: Vec<_> = (0..64).map(|number| format!("opaque-{number}")).collect();
    let mut calls: Vec<_> = texts.iter().map(|text| Box::pin(fixture.authenticate(text))).collect();
    assert!(calls.iter_mut().all(|call| poll(call.as_mut()).is_pending()));
    let error = ready(fixture.authenticate("one-more")).unwrap_err();
    assert!(chain(&error).contains("64 introspections"), "{error:?}");
    assert_eq!(fixture.source.requests(), texts);
    // A waiter for a token that is already introspected does not count toward the 64.
    let mut same = pin!(fixture.authenticate("opaque-0"));
    assert!(poll(same.as_mut()).is_pending());
    // Dropping a request frees its permit.
    drop(calls.pop());
    assert!(poll(pin!(fixture.authenticate("one-more"))).is_pending());
    fixture.source.release(63, responds_with_valid());
    for call in &mut calls {
        assert!(matches!(poll(call.as_mut()), Poll::Ready(Ok(Verdict::Accepted(_)))));
    }
    assert!(poll(same).is_ready());
    fixture.accepts("one-more");
}

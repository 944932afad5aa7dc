//! Concurrent introspections: the limit, and single flight (decision O38).

use std::pin::pin;
use std::task::Poll;

use super::fixture::*;
use crate::auth::Verdict;
use crate::chain::chain;

fn responds_with_valid() -> Behavior {
    Behavior::Responds(valid_response().to_string())
}

/// Creates a fixture whose issuer hangs.
fn hanging() -> Fixture {
    let fixture = Fixture::new();
    fixture.issuer.set_behavior(Behavior::Hangs);
    fixture
}

#[test]
fn concurrent_requests_with_one_token_share_introspection() {
    let fixture = hanging();
    let mut calls: Vec<_> = (0..100).map(|_| Box::pin(fixture.authenticate("opaque"))).collect();
    assert!(calls.iter_mut().all(|call| poll(call.as_mut()).is_pending()));
    fixture.issuer.set_behavior(responds_with_valid());
    fixture.issuer.release(1);
    for call in &mut calls {
        assert!(matches!(poll(call.as_mut()), Poll::Ready(Ok(Verdict::Accepted(_)))));
    }
    assert_eq!(fixture.issuer.requests(), ["opaque"]);
    // The response was only for the waiters: it is not cached.
    fixture.issuer.set_behavior(Behavior::Responds(r#"{"active":false}"#.to_owned()));
    assert!(matches!(poll(pin!(fixture.authenticate("opaque"))), Poll::Ready(Ok(Verdict::Refused(_, Some(_))))));
}

#[test]
fn waiters_share_refusal_or_failure_of_leader() {
    for (behavior, cause) in [
        (Behavior::Responds(r#"{"active":false}"#.to_owned()), None),
        (Behavior::Fails, Some("unreachable")),
        (Behavior::Panics, Some("as instructed")),
    ] {
        let fixture = hanging();
        let mut calls: Vec<_> = (0..3).map(|_| Box::pin(fixture.authenticate("opaque"))).collect();
        assert!(calls.iter_mut().all(|call| poll(call.as_mut()).is_pending()));
        fixture.issuer.set_behavior(behavior);
        fixture.issuer.release(1);
        let other = cause.map(|_| "the request that introspected this token failed");
        for (call, cause) in calls.iter_mut().zip([cause, other, other]) {
            match (poll(call.as_mut()), cause) {
                (Poll::Ready(Ok(Verdict::Refused(_, Some(_)))), None) => {}
                (Poll::Ready(Err(error)), Some(cause)) => assert!(chain(&error).contains(cause), "{error:?}"),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(fixture.issuer.requests().len(), 1);
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
    fixture.issuer.set_behavior(responds_with_valid());
    assert!(matches!(poll(waiting), Poll::Ready(Ok(Verdict::Accepted(_)))));
    assert_eq!(fixture.issuer.requests().len(), 2);
}

#[test]
fn at_most_64_tokens_are_introspected_concurrently() {
    let fixture = hanging();
    let texts: Vec<_> = (0..64).map(|number| format!("opaque-{number}")).collect();
    let mut calls: Vec<_> = texts.iter().map(|text| Box::pin(fixture.authenticate(text))).collect();
    assert!(calls.iter_mut().all(|call| poll(call.as_mut()).is_pending()));
    let Poll::Ready(Err(error)) = poll(pin!(fixture.authenticate("one-more"))) else { panic!("beyond the limit") };
    assert!(chain(&error).contains("64 introspections"), "{error:?}");
    assert_eq!(fixture.issuer.requests(), texts);
    // A waiter for a token that is already introspected does not count toward the 64.
    let mut same = pin!(fixture.authenticate("opaque-0"));
    assert!(poll(same.as_mut()).is_pending());
    // Dropping a request frees its permit.
    drop(calls.pop());
    assert!(poll(pin!(fixture.authenticate("one-more"))).is_pending());
    fixture.issuer.set_behavior(responds_with_valid());
    fixture.issuer.release(63);
    for call in &mut calls {
        assert!(matches!(poll(call.as_mut()), Poll::Ready(Ok(Verdict::Accepted(_)))));
    }
    assert!(poll(same).is_ready());
    assert!(matches!(poll(pin!(fixture.authenticate("one-more"))), Poll::Ready(Ok(Verdict::Accepted(_)))));
}

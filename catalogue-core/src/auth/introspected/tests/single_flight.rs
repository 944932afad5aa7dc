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
fn one_asks_for_all_who_have_the_same_token() {
    let fixture = hanging();
    let mut calls: Vec<_> = (0..100).map(|_| Box::pin(fixture.ask("opaque"))).collect();
    assert!(calls.iter_mut().all(|one| poll(one.as_mut()).is_pending()));
    fixture.issuer.set_behavior(responds_with_valid());
    fixture.issuer.release(1);
    for one in &mut calls {
        assert!(matches!(poll(one.as_mut()), Poll::Ready(Ok(Verdict::Accepted(_)))));
    }
    assert_eq!(fixture.issuer.requests(), ["opaque"]);
    // The response was only for the waiters: it is not cached.
    fixture.issuer.set_behavior(Behavior::Responds(r#"{"active":false}"#.to_owned()));
    assert!(matches!(poll(pin!(fixture.ask("opaque"))), Poll::Ready(Ok(Verdict::Refused(_, Some(_))))));
}

#[test]
fn all_who_wait_are_refused_or_fail_with_the_one() {
    for (behavior, cause) in [
        (Behavior::Responds(r#"{"active":false}"#.to_owned()), None),
        (Behavior::Fails, Some("away")),
        (Behavior::Panics, Some("as it was told")),
    ] {
        let fixture = hanging();
        let mut calls: Vec<_> = (0..3).map(|_| Box::pin(fixture.ask("opaque"))).collect();
        assert!(calls.iter_mut().all(|one| poll(one.as_mut()).is_pending()));
        fixture.issuer.set_behavior(behavior);
        fixture.issuer.release(1);
        let other = cause.map(|_| "another request asked and failed");
        for (one, cause) in calls.iter_mut().zip([cause, other, other]) {
            match (poll(one.as_mut()), cause) {
                (Poll::Ready(Ok(Verdict::Refused(_, Some(_)))), None) => {}
                (Poll::Ready(Err(error)), Some(cause)) => assert!(chain(&error).contains(cause), "{error:?}"),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(fixture.issuer.requests().len(), 1);
    }
}

/// The request that introspects may be dropped.
#[test]
fn who_waits_takes_over() {
    let fixture = hanging();
    let mut waiting = pin!(fixture.ask("opaque"));
    {
        let mut calls = pin!(fixture.ask("opaque"));
        assert!(poll(calls.as_mut()).is_pending() && poll(waiting.as_mut()).is_pending());
    }
    fixture.issuer.set_behavior(responds_with_valid());
    assert!(matches!(poll(waiting), Poll::Ready(Ok(Verdict::Accepted(_)))));
    assert_eq!(fixture.issuer.requests().len(), 2);
}

#[test]
fn other_tokens_do_not_wait_and_beyond_64_nobody_is_asked() {
    let fixture = hanging();
    let texts: Vec<_> = (0..64).map(|number| format!("opaque-{number}")).collect();
    let mut calls: Vec<_> = texts.iter().map(|text| Box::pin(fixture.ask(text))).collect();
    assert!(calls.iter_mut().all(|one| poll(one.as_mut()).is_pending()));
    let Poll::Ready(Err(error)) = poll(pin!(fixture.ask("one-more"))) else { panic!("beyond the limit") };
    assert!(chain(&error).contains("64 tokens"), "{error:?}");
    assert_eq!(fixture.issuer.requests(), texts);
    // A waiter for one of them does not count toward the 64.
    let mut same = pin!(fixture.ask("opaque-0"));
    assert!(poll(same.as_mut()).is_pending());
    // Dropping a request frees its permit.
    drop(calls.pop());
    assert!(poll(pin!(fixture.ask("one-more"))).is_pending());
    fixture.issuer.set_behavior(responds_with_valid());
    fixture.issuer.release(63);
    for one in &mut calls {
        assert!(matches!(poll(one.as_mut()), Poll::Ready(Ok(Verdict::Accepted(_)))));
    }
    assert!(poll(same).is_ready());
    assert!(matches!(poll(pin!(fixture.ask("one-more"))), Poll::Ready(Ok(Verdict::Accepted(_)))));
}

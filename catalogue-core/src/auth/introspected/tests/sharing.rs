//! Concurrent introspections: the limit, and single flight (decision O38).

use std::pin::pin;
use std::task::Poll;

use super::fixture::*;
use crate::auth::Verdict;
use crate::chain::chain;

fn says_right() -> Answer {
    Answer::Says(right().to_string())
}

/// Creates a fixture whose issuer hangs.
fn hanging() -> Fixture {
    let fixture = Fixture::new();
    fixture.issuer.answer(Answer::Hangs);
    fixture
}

#[test]
fn one_asks_for_all_who_have_the_same_token() {
    let fixture = hanging();
    let mut asking: Vec<_> = (0..100).map(|_| Box::pin(fixture.ask("opaque"))).collect();
    assert!(asking.iter_mut().all(|one| poll(one.as_mut()).is_pending()));
    fixture.issuer.answer(says_right());
    fixture.issuer.release(1);
    for one in &mut asking {
        assert!(matches!(poll(one.as_mut()), Poll::Ready(Ok(Verdict::Accepted(_)))));
    }
    assert_eq!(fixture.issuer.asked(), ["opaque"]);
    // The response was only for the waiters: it is not cached.
    fixture.issuer.answer(Answer::Says(r#"{"active":false}"#.to_owned()));
    assert!(matches!(poll(pin!(fixture.ask("opaque"))), Poll::Ready(Ok(Verdict::Explained(..)))));
}

#[test]
fn all_who_wait_are_refused_or_fail_with_the_one() {
    for (answer, cause) in [
        (Answer::Says(r#"{"active":false}"#.to_owned()), None),
        (Answer::Away, Some("away")),
        (Answer::Panics, Some("as it was told")),
    ] {
        let fixture = hanging();
        let mut asking: Vec<_> = (0..3).map(|_| Box::pin(fixture.ask("opaque"))).collect();
        assert!(asking.iter_mut().all(|one| poll(one.as_mut()).is_pending()));
        fixture.issuer.answer(answer);
        fixture.issuer.release(1);
        let other = cause.map(|_| "another request asked and failed");
        for (one, cause) in asking.iter_mut().zip([cause, other, other]) {
            match (poll(one.as_mut()), cause) {
                (Poll::Ready(Ok(Verdict::Explained(..))), None) => {}
                (Poll::Ready(Err(error)), Some(cause)) => assert!(chain(&error).contains(cause), "{error:?}"),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(fixture.issuer.asked().len(), 1);
    }
}

/// The request that introspects may be dropped.
#[test]
fn who_waits_takes_over() {
    let fixture = hanging();
    let mut waiting = pin!(fixture.ask("opaque"));
    {
        let mut asking = pin!(fixture.ask("opaque"));
        assert!(poll(asking.as_mut()).is_pending() && poll(waiting.as_mut()).is_pending());
    }
    fixture.issuer.answer(says_right());
    assert!(matches!(poll(waiting), Poll::Ready(Ok(Verdict::Accepted(_)))));
    assert_eq!(fixture.issuer.asked().len(), 2);
}

#[test]
fn other_tokens_do_not_wait_and_beyond_64_nobody_is_asked() {
    let fixture = hanging();
    let texts: Vec<_> = (0..64).map(|number| format!("opaque-{number}")).collect();
    let mut asking: Vec<_> = texts.iter().map(|text| Box::pin(fixture.ask(text))).collect();
    assert!(asking.iter_mut().all(|one| poll(one.as_mut()).is_pending()));
    let Poll::Ready(Err(error)) = poll(pin!(fixture.ask("one-more"))) else { panic!("beyond the limit") };
    assert!(chain(&error).contains("64 tokens"), "{error:?}");
    assert_eq!(fixture.issuer.asked(), texts);
    // A waiter for one of them does not count toward the 64.
    let mut same = pin!(fixture.ask("opaque-0"));
    assert!(poll(same.as_mut()).is_pending());
    // Dropping a request frees its permit.
    drop(asking.pop());
    assert!(poll(pin!(fixture.ask("one-more"))).is_pending());
    fixture.issuer.answer(says_right());
    fixture.issuer.release(63);
    for one in &mut asking {
        assert!(matches!(poll(one.as_mut()), Poll::Ready(Ok(Verdict::Accepted(_)))));
    }
    assert!(poll(same).is_ready());
    assert!(matches!(poll(pin!(fixture.ask("one-more"))), Poll::Ready(Ok(Verdict::Accepted(_)))));
}

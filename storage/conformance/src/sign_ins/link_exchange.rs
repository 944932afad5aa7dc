//! Exchanging a link for a session.

use std::sync::atomic::{AtomicUsize, Ordering};

use catalogue_core::admin::Account;
use catalogue_core::storage::{NewSession, SignInStorage};

use crate::SignInFixture;
use crate::concurrency::on_threads;
use crate::seed::{create_account, digest};
use crate::sign_in_calls::{LIFETIME, event_actions, exchange, find, link, make_link, session, try_link};

/// A link can be exchanged only once, for its account; then the session is found, and the link is gone.
pub async fn link_is_exchanged_once(fixture: &impl SignInFixture) {
    let id = create_account(fixture, "b").await;
    create_account(fixture, "a").await;
    let account = Account { id, name: "\u{1f917} Anna".to_owned(), email: "anna@example.org".to_owned() };
    fixture.put_account(&account).await;
    make_link(fixture, &account.id, "code", 0).await;
    assert_eq!(find(fixture, "first").await, None, "No session exists before its link is exchanged.");
    let exchanged = exchange(fixture, &digest("code"), &session("first", 1)).await;
    assert_eq!(exchanged.as_ref(), Some(&account), "Exchanging a link returns its account, with name and email.");
    assert!(find(fixture, "first").await.is_some(), "A session is found from the exchange on.");
    for again in ["second", "third"] {
        let exchanged = exchange(fixture, &digest("code"), &session(again, 1)).await;
        assert_eq!(exchanged, None, "A link is exchanged once, and returns None from then on.");
        assert_eq!(find(fixture, again).await, None, "An exchanged link creates no other session.");
    }
    assert!(find(fixture, "first").await.is_some(), "A second exchange leaves the first session unchanged.");
}

/// If many calls exchange a link concurrently, one succeeds; the others get `None`, and their sessions are not stored.
pub async fn one_of_many_concurrent_exchanges_succeeds(fixture: &impl SignInFixture) {
    const CONCURRENT_CALLS: usize = 6;
    let account = create_account(fixture, "a").await;
    for round in 0..5 {
        let code = format!("code-{round}");
        make_link(fixture, &account, &code, round).await;
        let callers = AtomicUsize::new(0);
        let outcomes = on_threads(CONCURRENT_CALLS, async || {
            let secret = format!("secret-{round}-{}", callers.fetch_add(1, Ordering::SeqCst));
            let exchanged = exchange(fixture, &digest(&code), &session(&secret, round)).await;
            (exchanged.is_some(), find(fixture, &secret).await.is_some())
        });
        let won = outcomes.iter().filter(|outcome| **outcome == (true, true)).count();
        let lost = outcomes.iter().filter(|outcome| **outcome == (false, false)).count();
        assert_eq!(
            (won, lost),
            (1, CONCURRENT_CALLS - 1),
            "A link is exchanged once, by one of many calls: {outcomes:?}."
        );
    }
    assert_eq!(event_actions(fixture, &account).await.len(), 10, "A link that is exchanged once has one event.");
}

/// A link is valid before its end, but not at it. For an expired or unknown link, the call returns `None` and stores nothing.
pub async fn expired_or_unknown_link_returns_none(fixture: &impl SignInFixture) {
    const RULE: &str = "An expired or unknown link returns None";
    let account = create_account(fixture, "a").await;
    for (code, at) in [("at-its-end", LIFETIME), ("after-it", LIFETIME + 1), ("long-after", LIFETIME * 9)] {
        try_link(fixture, &link(&account, code, 0)).await.expect("a link can be created");
        assert_eq!(exchange(fixture, &digest(code), &session(code, at)).await, None, "{RULE}: {code}.");
        assert_eq!(find(fixture, code).await, None, "{RULE}, and creates no session.");
    }
    for unknown in ["unknown", "Just-before", "just-before-"] {
        assert_eq!(exchange(fixture, &digest(unknown), &session(unknown, 1)).await, None, "{RULE}: {unknown}.");
        assert_eq!(find(fixture, unknown).await, None, "{RULE}, and creates no session.");
    }
    make_link(fixture, &account, "just-before", 0).await;
    let exchanged = exchange(fixture, &digest("just-before"), &session("secret", LIFETIME - 1)).await;
    assert!(exchanged.is_some(), "A link is valid until its end.");
}

/// The time of the call, not the session's start, decides whether a link has expired.
pub async fn expiry_is_checked_at_time_of_call(fixture: &impl SignInFixture) {
    let account = create_account(fixture, "a").await;
    for (code, now, begins) in [("in-time", 1, LIFETIME * 2), ("too-late", LIFETIME, 1)] {
        make_link(fixture, &account, code, 0).await;
        let new: NewSession = session(code, begins);
        let exchanged = fixture.storage().exchange_link(&digest(code), crate::seed::second(now), &new).await;
        let exchanged = exchanged.expect("a link can be exchanged").is_some();
        assert_eq!(exchanged, code == "in-time", "Expiry is checked at the time of the call: {code}.");
    }
}

/// A link is not a session, and a session is not a link.
pub async fn links_and_sessions_are_not_interchangeable(fixture: &impl SignInFixture) {
    let account = create_account(fixture, "a").await;
    make_link(fixture, &account, "code", 0).await;
    assert_eq!(find(fixture, "code").await, None, "A link is not a session.");
    let ended = fixture.storage().end_session(&digest("code")).await;
    ended.expect("A session can be ended, even an unknown one.");
    let exchanged = exchange(fixture, &digest("code"), &session("secret", 1)).await;
    assert!(exchanged.is_some(), "Ending a session does not end a link.");
    let exchanged = exchange(fixture, &digest("secret"), &session("another", 1)).await;
    assert_eq!(exchanged, None, "A session is not a link.");
    assert!(find(fixture, "secret").await.is_some(), "Exchanging a link does not end a session.");
}

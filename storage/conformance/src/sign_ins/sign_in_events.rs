//! Events of signing in and out in the log of an account's changes.

use std::sync::atomic::{AtomicUsize, Ordering};

use catalogue_core::storage::{Actor, CredentialAction, RETENTION, SignInStorage, StorageErrorKind};

use crate::SignInFixture;
use crate::concurrency::read_during_writes;
use crate::seed::{create_account, digest, second};
use crate::sign_in_calls::{
    LIFETIME, begin, end, event_actions, exchange, find, link, make_link, session, sign_out, try_link,
};

/// Each change has one event, with the action, the actor and, if the call has a time, the time of the call.
pub async fn each_change_records_one_event(fixture: &impl SignInFixture) {
    let (storage, account) = (fixture.storage(), create_account(fixture, "a").await);
    let other = create_account(fixture, "b").await;
    let user = Actor::owner_named("user_17");
    for (code, at, by) in [("one", 1, &Actor::OPERATOR), ("two", 2, &user)] {
        storage.create_link(&link(&account, code, at), by).await.expect("a link can be created");
    }
    for (code, at) in [("one", 3), ("two", 4)] {
        exchange(fixture, &digest(code), &session(&format!("by-{code}"), at)).await.expect("a valid link");
    }
    end(fixture, "by-one").await;
    let ended = storage.end_sign_ins(&account, &user).await;
    ended.expect("all sign-ins can be ended");
    let events = fixture.events(&account).await;
    let logged: Vec<_> = events.iter().rev().map(|event| (event.action, event.actor.clone())).collect();
    let expected = [
        (CredentialAction::LinkMade, Actor::OPERATOR),
        (CredentialAction::LinkMade, user.clone()),
        (CredentialAction::SignedIn, Actor::OWNER),
        (CredentialAction::SignedIn, Actor::OWNER),
        (CredentialAction::SignedOut, Actor::OWNER),
        (CredentialAction::SignedOut, user),
    ];
    assert_eq!(logged, expected, "Each change has one event, in order, with its action and its actor.");
    let times: Vec<_> = events.iter().rev().map(|event| event.at).take(4).collect();
    assert_eq!(times, [1, 2, 3, 4].map(second), "An event has the time of its call.");
    for event in events {
        assert_eq!(event.account, account, "An event contains its account.");
        assert_eq!((event.credential_id, event.name), (None, None), "Events of signing in and out have no key.");
    }
    assert_eq!(fixture.events(&other).await, [], "An account's log contains only its own events.");
}

/// A call that changes nothing has no event, such as one with a refused, expired or unknown link, or an unknown session.
pub async fn calls_without_change_record_no_event(fixture: &impl SignInFixture) {
    const RULE: &str = "A call without a change has no event:";
    let account = create_account(fixture, "a").await;
    make_link(fixture, &account, "code", 0).await;
    let refused = try_link(fixture, &link(&account, "code", 1)).await;
    assert_eq!(refused, Err(StorageErrorKind::AlreadyExists), "an existing link");
    assert_eq!(event_actions(fixture, &account).await.len(), 1, "{RULE} a refused link.");
    for (code, at) in [("code", LIFETIME), ("unknown", 1)] {
        assert_eq!(exchange(fixture, &digest(code), &session("secret", at)).await, None, "expired or unknown");
        assert_eq!(event_actions(fixture, &account).await.len(), 1, "{RULE} an expired or unknown link.");
    }
    begin(fixture, &account, "secret", 1).await;
    end(fixture, "secret").await;
    sign_out(fixture, &account).await;
    let before = event_actions(fixture, &account).await;
    for ended in ["secret", "unknown", "code"] {
        end(fixture, ended).await;
        assert_eq!(event_actions(fixture, &account).await, before, "{RULE} the end of an unknown session.");
    }
    assert_eq!(sign_out(fixture, &account).await, 0, "all links and sessions have ended already");
    assert_eq!(event_actions(fixture, &account).await, before, "{RULE} signing out without links or sessions.");
    let unknown = fixture.account("unknown").await;
    let refused = try_link(fixture, &link(&unknown, "another", 1)).await;
    assert_eq!(refused, Err(StorageErrorKind::UnknownReference), "an unknown account");
    create_account(fixture, "unknown").await;
    assert_eq!(fixture.events(&unknown).await, [], "{RULE} a link that was refused before its account existed.");
}

/// A reader that finds a session sees its event, and one that sees the event finds the session.
pub async fn session_and_its_event_become_visible_together(fixture: &impl SignInFixture) {
    const RULE: &str = "A change and its event are committed together";
    let current = AtomicUsize::new(0);
    let read = async || {
        let number = current.load(Ordering::SeqCst);
        let (account, secret) = (fixture.account(&format!("a{number}")).await, format!("secret-{number}"));
        let signed_in = async || event_actions(fixture, &account).await.contains(&CredentialAction::SignedIn);
        let before = signed_in().await;
        let found = find(fixture, &secret).await.is_some();
        let after = signed_in().await;
        assert!(found || !before, "{RULE}: the event was visible before the session.");
        assert!(after || !found, "{RULE}: the session was visible before its event.");
    };
    let write = async |number: usize| {
        let account = create_account(fixture, &format!("a{number}")).await;
        current.store(number, Ordering::SeqCst);
        begin(fixture, &account, &format!("secret-{number}"), 0).await;
    };
    read_during_writes(read, write).await;
}

/// An event of signing in or out is retained for 400 days. Then the next creation of a link in its account removes it.
pub async fn creating_a_link_removes_old_events(fixture: &impl SignInFixture) {
    const RETENTION_SECONDS: i64 = RETENTION.as_secs() as i64;
    let (a, b) = (create_account(fixture, "a").await, create_account(fixture, "b").await);
    for (account, name) in [(&a, "a"), (&b, "b")] {
        make_link(fixture, account, &format!("first-of-{name}"), 0).await;
        let secret = session(&format!("session-of-{name}"), 1);
        exchange(fixture, &digest(&format!("first-of-{name}")), &secret).await.expect("a valid link");
    }
    for (at, retained) in [(RETENTION_SECONDS - 1, 3), (RETENTION_SECONDS, 3), (RETENTION_SECONDS + 1, 3)] {
        make_link(fixture, &a, &format!("made-at-{at}"), at).await;
        let events = fixture.events(&a).await;
        assert_eq!(events.len(), retained, "An event of signing in is retained for exactly 400 days: {events:?}.");
    }
    assert_eq!(fixture.events(&b).await.len(), 2, "Events of other accounts are retained.");
}

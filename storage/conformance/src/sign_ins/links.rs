//! Creating sign-in links, and exchanging them for sessions.

use catalogue_core::admin::Account;
use catalogue_core::storage::{NewSignIn, SignInStorage, StorageErrorKind};

use crate::SignInFixture;
use crate::concurrency::on_threads;
use crate::seed::{create_account, digest, second, similar_digests};
use crate::sign_in_calls::{LIFETIME, begin, event_actions, exchange, find, found, link, make_link, session, try_link};

/// A link of an unknown account is refused as an unknown reference, and not stored.
pub async fn link_of_unknown_account_is_refused(fixture: &impl SignInFixture) {
    create_account(fixture, "known").await;
    for (name, code) in [("unknown", "code-1"), ("Known", "code-2")] {
        let account = fixture.account(name).await;
        let refused = try_link(fixture, &link(&account, code, 0)).await;
        let expected = Err(StorageErrorKind::UnknownReference);
        assert_eq!(refused, expected, "A link of an unknown account is refused as UnknownReference.");
        create_account(fixture, name).await;
        let exchanged = exchange(fixture, &digest(code), &session("secret", 1)).await;
        assert_eq!(exchanged, None, "A refused link does not work in a later account.");
    }
}

/// A link is refused if any account has one with its digest; the existing one is unchanged.
pub async fn existing_link_is_refused(fixture: &impl SignInFixture) {
    let (a, b) = (create_account(fixture, "a").await, create_account(fixture, "b").await);
    make_link(fixture, &a, "code", 0).await;
    for (account, made) in [(&a, 0), (&a, 5), (&b, 5)] {
        let refused = try_link(fixture, &link(account, "code", made)).await;
        assert_eq!(refused, Err(StorageErrorKind::AlreadyExists), "An existing link is refused as AlreadyExists.");
    }
    let too_late = exchange(fixture, &digest("code"), &session("late", LIFETIME)).await;
    assert_eq!(too_late, None, "A refused link does not extend the existing one.");
    make_link(fixture, &b, "other", 1).await;
    let exchanged = exchange(fixture, &digest("code"), &session("secret", 1)).await;
    assert_eq!(exchanged.map(|account| account.id), Some(a), "A refused link leaves the existing one unchanged.");
}

/// A link is exchanged only by its whole digest, each for its own account.
pub async fn link_is_found_only_by_whole_digest(fixture: &impl SignInFixture) {
    let accounts = [create_account(fixture, "a").await, create_account(fixture, "b").await];
    let digests = similar_digests();
    for (index, digest) in digests.iter().enumerate() {
        let account = &accounts[index % 2];
        let early = exchange(fixture, digest, &session(&format!("early-{index}"), 1)).await;
        assert_eq!(early, None, "A link is found only by its whole digest.");
        let link = NewSignIn { digest: *digest, ..link(account, "code", 0) };
        try_link(fixture, &link).await.expect("A link whose digest differs in one byte is another link.");
    }
    for (index, digest) in digests.iter().enumerate() {
        let exchanged = exchange(fixture, digest, &session(&format!("secret-{index}"), 1)).await;
        let expected = accounts[index % 2].clone();
        assert_eq!(exchanged.map(|account| account.id), Some(expected), "A link is found only by its whole digest.");
    }
}

/// Creating a link removes its account's expired sessions, and those of other accounts that expired more than a day before.
pub async fn creating_a_link_purges_expired_sessions(fixture: &impl SignInFixture) {
    const DAY: i64 = 24 * 60 * 60;
    let (a, b) = (create_account(fixture, "a").await, create_account(fixture, "b").await);
    begin(fixture, &a, "first-of-a", 0).await;
    begin(fixture, &b, "of-b", 0).await;
    begin(fixture, &a, "second-of-a", 10).await;
    let secrets = ["first-of-a", "of-b", "second-of-a"];
    for (code, made, expected) in [
        ("code-1", LIFETIME - 1, &secrets[..]),
        ("code-2", LIFETIME, &secrets[1..]),
        ("code-3", LIFETIME + 10, &secrets[1..2]),
        ("code-4", LIFETIME + DAY - 1, &secrets[1..2]),
        ("code-5", LIFETIME + DAY + 1, &[]),
    ] {
        make_link(fixture, &a, code, made).await;
        let rule = "Creating a link removes its account's expired sessions, and others' after a day";
        assert_eq!(found(fixture, &secrets).await, expected, "{rule}: {code}.");
    }
    let exchanged = exchange(fixture, &digest("code-5"), &session("third-of-a", LIFETIME + DAY + 2)).await;
    assert_eq!(exchanged.map(|account| account.id), Some(a), "A link that has not expired is retained.");
}

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
        let outcomes = on_threads(CONCURRENT_CALLS, async |number| {
            let secret = format!("secret-{round}-{number}");
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

/// A link is valid before its end, but not at it. The time of the call decides, not the session's start. For an expired or
/// unknown link, the call returns `None` and stores nothing.
pub async fn expired_or_unknown_link_returns_none(fixture: &impl SignInFixture) {
    const RULE: &str = "An expired or unknown link returns None";
    let account = create_account(fixture, "a").await;
    for unknown in ["unknown", "Just-before", "just-before-"] {
        assert_eq!(exchange(fixture, &digest(unknown), &session(unknown, 1)).await, None, "{RULE}: {unknown}.");
        assert_eq!(find(fixture, unknown).await, None, "{RULE}, and creates no session.");
    }
    for (code, now, begins) in [
        ("at-its-end", LIFETIME, LIFETIME),
        ("after-it", LIFETIME + 1, LIFETIME + 1),
        ("long-after", LIFETIME * 9, LIFETIME * 9),
        ("too-late", LIFETIME, 1),
        ("just-before", LIFETIME - 1, LIFETIME - 1),
        ("in-time", 1, LIFETIME * 2),
    ] {
        make_link(fixture, &account, code, 0).await;
        let exchanged = fixture.storage().exchange_link(&digest(code), second(now), &session(code, begins)).await;
        let exchanged = exchanged.expect("a link can be exchanged").is_some();
        assert_eq!(exchanged, now < LIFETIME, "{RULE}, and a valid one its account: {code}.");
        assert_eq!(find(fixture, code).await.is_some(), exchanged, "{RULE}, and creates no session: {code}.");
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

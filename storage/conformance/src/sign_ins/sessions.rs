//! Looking up and ending sessions.

use catalogue_core::Timestamp;
use catalogue_core::admin::Account;
use catalogue_core::storage::{MAX_SESSIONS, NewSession, Session};

use crate::SignInFixture;
use crate::seed::{create_account, digest, instant, similar_digests, time};
use crate::sign_in_calls::{LIFETIME, begin, end, exchange, find, find_by, found, make_link, session, sign_out};

/// A session is found with its account and its end, to the microsecond, whether it has expired or not.
pub async fn session_is_found_with_account_and_expiry(fixture: &impl SignInFixture) {
    create_account(fixture, "b").await;
    let id = create_account(fixture, "a").await;
    let account = Account { id, name: "Anna \u{1f917} 'quoted'".to_owned(), email: "anna@example.org".to_owned() };
    fixture.put_account(&account).await;
    let ends = [Timestamp::MIN, instant(-1), instant(1), time(1), time(123_456), time(999_999), Timestamp::MAX];
    for (index, expires_at) in ends.into_iter().enumerate() {
        let (secret, code) = (format!("secret-{index}"), format!("code-{index}"));
        // Each session is looked up before the next link: the creation of a link removes expired sessions.
        make_link(fixture, &account.id, &code, 0).await;
        let expires_at = fixture.precision().truncate(expires_at);
        let new = NewSession { expires_at, ..session(&secret, 0) };
        exchange(fixture, &digest(&code), &new).await.expect("a valid link");
        let expected = Some(Session { account: account.clone(), expires_at });
        assert_eq!(find(fixture, &secret).await, expected, "A session is found with account and end, expired or not.");
    }
}

/// A session is found only by its whole digest.
pub async fn session_is_found_only_by_whole_digest(fixture: &impl SignInFixture) {
    let accounts = [create_account(fixture, "a").await, create_account(fixture, "b").await];
    let digests = similar_digests();
    for (index, session_digest) in digests.into_iter().enumerate() {
        assert_eq!(find_by(fixture, &session_digest).await, None, "A session is found only by its whole digest.");
        let code = format!("code-{index}");
        make_link(fixture, &accounts[index % 2], &code, 0).await;
        let new = NewSession { digest: session_digest, ..session("any", 1) };
        exchange(fixture, &digest(&code), &new).await.expect("a valid link");
    }
    for (index, digest) in digests.iter().enumerate() {
        let found = find_by(fixture, digest).await.map(|session| session.account.id);
        assert_eq!(found.as_ref(), Some(&accounts[index % 2]), "A session is found only by its whole digest.");
    }
}

/// If an account exceeds its limit of sessions, the oldest are removed; its links and other accounts' sessions are not.
pub async fn oldest_session_is_removed_beyond_limit(fixture: &impl SignInFixture) {
    let (a, b) = (create_account(fixture, "a").await, create_account(fixture, "b").await);
    begin(fixture, &b, "of-b", 0).await;
    make_link(fixture, &a, "unused", 0).await;
    let secrets: Vec<_> = (0..MAX_SESSIONS + 3).map(|number| format!("secret-{number}")).collect();
    let secrets: Vec<_> = secrets.iter().map(String::as_str).collect();
    for (number, secret) in secrets.iter().enumerate() {
        begin(fixture, &a, secret, number as i64).await;
        let begun = &secrets[..=number];
        let expected = &begun[begun.len().saturating_sub(MAX_SESSIONS)..];
        assert_eq!(found(fixture, begun).await, expected, "The oldest sessions beyond an account's limit are removed.");
    }
    assert_eq!(found(fixture, &["of-b"]).await, ["of-b"], "Sessions of other accounts are not counted or removed.");
    let exchanged = exchange(fixture, &digest("unused"), &session("last", LIFETIME - 1)).await;
    assert!(exchanged.is_some(), "Links are neither counted as sessions nor removed.");
}

/// An ended session is no longer found; all others are.
pub async fn ended_session_is_not_found(fixture: &impl SignInFixture) {
    let (a, b) = (create_account(fixture, "a").await, create_account(fixture, "b").await);
    for (account, secret) in [(&a, "one"), (&a, "two"), (&b, "three")] {
        begin(fixture, account, secret, 0).await;
    }
    for unknown in ["unknown", "On", "ONE", "one-"] {
        end(fixture, unknown).await;
    }
    let all = ["one", "two", "three"];
    assert_eq!(found(fixture, &all).await, all, "Ending an unknown session ends no other.");
    for _ in 0..2 {
        end(fixture, "one").await;
        assert_eq!(found(fixture, &all).await, all[1..], "An ended session is not found, and all others are.");
    }
}

/// All links and sessions of the account are ended and counted, and none of other accounts.
pub async fn signing_out_ends_links_and_sessions(fixture: &impl SignInFixture) {
    let (a, b) = (create_account(fixture, "a").await, create_account(fixture, "A").await);
    begin(fixture, &a, "one", 0).await;
    begin(fixture, &b, "of-another", 0).await;
    begin(fixture, &a, "two", 0).await;
    make_link(fixture, &a, "code", 0).await;
    make_link(fixture, &b, "code-of-another", 0).await;
    assert_eq!(sign_out(fixture, &fixture.account("unknown").await).await, 0, "An unknown account has no sign-ins.");
    assert_eq!(sign_out(fixture, &a).await, 3, "All links and sessions of the account are counted.");
    let left = found(fixture, &["one", "two", "of-another"]).await;
    assert_eq!(left, ["of-another"], "All sessions of the account are ended, and none of other accounts.");
    let exchanged = exchange(fixture, &digest("code"), &session("late", 1)).await;
    assert_eq!(exchanged, None, "The links of the account are ended too.");
    let exchanged = exchange(fixture, &digest("code-of-another"), &session("third", 1)).await;
    assert_eq!(exchanged.map(|account| account.id), Some(b), "Links of other accounts stay valid.");
    assert_eq!(sign_out(fixture, &a).await, 0, "Ended links and sessions are not counted again.");
    begin(fixture, &a, "again", 1).await;
}

/// Links and sessions are removed with their account, but not with another; a later account with the same id has none.
pub async fn sign_ins_are_removed_with_their_account(fixture: &impl SignInFixture) {
    let (a, b) = (create_account(fixture, "a").await, create_account(fixture, "b").await);
    for (account, name) in [(&a, "a"), (&b, "b")] {
        begin(fixture, account, name, 0).await;
        make_link(fixture, account, &format!("code-{name}"), 0).await;
    }
    assert_eq!(found(fixture, &["a", "b"]).await, ["a", "b"], "Sessions are found while their account exists.");
    fixture.remove_account(&a).await;
    assert_eq!(found(fixture, &["a", "b"]).await, ["b"], "The sessions of a removed account are ended.");
    let gone = exchange(fixture, &digest("code-a"), &session("late", 1)).await;
    assert_eq!(gone, None, "The links of a removed account are ended.");
    assert_eq!(found(fixture, &["late"]).await, [""; 0], "The links of a removed account create no session.");
    create_account(fixture, "a").await;
    assert_eq!(found(fixture, &["a", "b"]).await, ["b"], "A recreated account has no session of the removed one.");
    let gone = exchange(fixture, &digest("code-a"), &session("later", 1)).await;
    assert_eq!(gone, None, "A recreated account has no link of the removed one.");
    assert_eq!(fixture.events(&a).await, [], "The events of an account are removed with it.");
    let remaining = exchange(fixture, &digest("code-b"), &session("other", 1)).await;
    assert_eq!(remaining.map(|account| account.id), Some(b), "Links of other accounts stay valid.");
}

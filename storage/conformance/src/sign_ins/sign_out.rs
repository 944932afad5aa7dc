//! Ending sessions and links.

use crate::SignInFixture;
use crate::seed::{create_account, digest};
use crate::sign_in_calls::{begin, end, exchange, found, make_link, session, sign_out};

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

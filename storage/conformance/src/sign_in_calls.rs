//! Calls of a [`SignInStorage`] for the cases.

use catalogue_core::AccountId;
use catalogue_core::admin::Account;
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::{
    Actor, CredentialAction, NewSession, NewSignIn, Session, SignInStorage, StorageErrorKind,
};

use crate::SignInFixture;
use crate::seed::{digest, second};

/// Lifetime of links and sessions in these cases, in seconds.
pub(crate) const LIFETIME: i64 = 100;

/// Returns a link created `made` seconds after the default time.
pub(crate) fn link(account: &AccountId, code: &str, made: i64) -> NewSignIn {
    NewSignIn {
        digest: digest(code),
        account: account.clone(),
        created_at: second(made),
        expires_at: second(made + LIFETIME),
    }
}

/// Returns a session that begins `begins` seconds after the default time.
pub(crate) fn session(secret: &str, begins: i64) -> NewSession {
    NewSession { digest: digest(secret), created_at: second(begins), expires_at: second(begins + LIFETIME) }
}

pub(crate) async fn try_link(fixture: &impl SignInFixture, link: &NewSignIn) -> Result<(), StorageErrorKind> {
    fixture.storage().create_link(link, &Actor::OPERATOR).await.map_err(|error| error.kind())
}

/// Creates a link `made` seconds after the default time.
pub(crate) async fn make_link(fixture: &impl SignInFixture, account: &AccountId, code: &str, made: i64) {
    try_link(fixture, &link(account, code, made)).await.expect("A link of a known account can be created.");
}

/// Exchanges the link with the digest `code` for `session`, at the session's start.
pub(crate) async fn exchange(
    fixture: &impl SignInFixture,
    code: &TokenDigest,
    session: &NewSession,
) -> Option<Account> {
    let exchanged = fixture.storage().exchange_link(code, session.created_at, session).await;
    exchanged.expect("A link can be exchanged; an unknown or expired one returns None, not an error.")
}

/// Begins a session at second `at`, by creating and exchanging a link.
pub(crate) async fn begin(fixture: &impl SignInFixture, account: &AccountId, secret: &str, at: i64) {
    let code = format!("code-of-{secret}");
    make_link(fixture, account, &code, at).await;
    let exchanged = exchange(fixture, &digest(&code), &session(secret, at)).await;
    assert_eq!(exchanged.map(|account| account.id).as_ref(), Some(account), "A link signs its own account in.");
}

pub(crate) async fn find(fixture: &impl SignInFixture, secret: &str) -> Option<Session> {
    find_by(fixture, &digest(secret)).await
}

pub(crate) async fn find_by(fixture: &impl SignInFixture, digest: &TokenDigest) -> Option<Session> {
    let found = fixture.storage().find_session(digest).await;
    found.expect("A session can be looked up; an unknown one returns None, not an error.")
}

/// Returns those of `secrets` that have a session.
pub(crate) async fn found<'s>(fixture: &impl SignInFixture, secrets: &[&'s str]) -> Vec<&'s str> {
    let mut found = Vec::new();
    for secret in secrets {
        found.extend(find(fixture, secret).await.is_some().then_some(*secret));
    }
    found
}

pub(crate) async fn end(fixture: &impl SignInFixture, secret: &str) {
    let ended = fixture.storage().end_session(&digest(secret)).await;
    ended.expect("A session can be ended, even an unknown one.");
}

pub(crate) async fn sign_out(fixture: &impl SignInFixture, account: &AccountId) -> u64 {
    let ended = fixture.storage().end_sign_ins(account, &Actor::OPERATOR).await;
    ended.expect("All links and sessions of an account can be ended, even if it has none.")
}

/// Returns the actions in the account's events, oldest first.
pub(crate) async fn event_actions(fixture: &impl SignInFixture, account: &AccountId) -> Vec<CredentialAction> {
    fixture.events(account).await.into_iter().rev().map(|event| event.action).collect()
}

//! Creating sign-in links.

use catalogue_core::storage::{NewSignIn, StorageErrorKind};

use crate::SignInFixture;
use crate::seed::{create_account, digest};
use crate::sign_in_calls::{LIFETIME, begin, exchange, found, link, make_link, session, similar_digests, try_link};

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

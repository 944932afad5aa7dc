//! Removing a course, and removing an account with all its data.

use std::collections::HashSet;

use catalogue_core::admin::{AdminStorage, Record, RemovedAccount};

use crate::Storage;
use crate::courses::revision::revision;
use crate::credential_lookup::find as look_up;
use crate::key_calls::{create, list};
use crate::reading::{export, find, slugs};
use crate::seed::{account, api_key, course, course_of, digest, id, oauth_token, seed, seed_accounts, time};

/// Puts accounts `a` and `b`, each with courses, two keys, one of them revoked, and an OAuth token.
async fn seed_two(storage: &impl Storage) {
    seed(storage, &[course_of("a", "1", 2), course_of("a", "2", 3), course_of("b", "1", 1)]).await;
    for account in ["a", "b"] {
        let mut revoked = api_key(account, &format!("revoked of {account}"), &format!("revoked-{account}"));
        revoked.record.revoked_at = Some(time(1));
        let key = api_key(account, &format!("key of {account}"), &format!("key-{account}"));
        for credential in [revoked, key, oauth_token(account, &format!("token-{account}"))] {
            create(storage, &credential).await;
        }
    }
}

async fn remove_account(storage: &impl Storage, account: &str) -> Option<RemovedAccount> {
    let removed = storage.remove_account(&id(account)).await;
    removed.expect("An account can be removed; an unknown one returns None, not an error.")
}

/// A removed account and its data are no longer found, listed or exported; other accounts, their data and revisions are
/// unchanged.
pub async fn removing_account_removes_exactly_its_data(storage: &impl Storage) {
    seed_two(storage).await;
    seed_accounts(storage, &["A", "a ", ""]).await;
    let before = (revision(storage, "b").await, list(storage, &id("b")).await);
    remove_account(storage, "a").await;
    let mut rest: Vec<_> = ["", "A", "a ", "b"].map(|id| Record::Account(account(id))).into();
    rest.push(Record::Course(course_of("b", "1", 1)));
    assert_eq!(export(storage).await, rest, "A removed account is not exported, nor are its courses; others are.");
    assert_eq!(slugs(storage, "a").await, [""; 0], "A removed account has no courses.");
    assert_eq!(find(storage, "a", "1").await, None, "A removed account has no courses.");
    assert_eq!(list(storage, &id("a")).await, None, "A removed account is unknown.");
    for token in ["key-a", "revoked-a", "token-a"] {
        let found = look_up(storage, &digest(token)).await;
        assert_eq!(found, None, "No credential of a removed account is found.");
    }
    let record = storage.find_credential_record("key of a").await.expect("a record can be looked up");
    assert_eq!(record, None, "No credential of a removed account is found by its id.");
    let after = (revision(storage, "b").await, list(storage, &id("b")).await);
    assert_eq!(after, before, "Removing an account leaves other accounts' credentials and revisions unchanged.");
}

/// Removing returns the number of removed records of each kind, or `None` if the account does not exist.
pub async fn removing_account_returns_removed_counts(storage: &impl Storage) {
    seed_two(storage).await;
    seed_accounts(storage, &["empty"]).await;
    for unknown in ["unknown", "", "A", "a ", "%", "\0", "1", "key of a"] {
        assert_eq!(
            remove_account(storage, unknown).await,
            None,
            "Removing an unknown account returns None: {unknown:?}."
        );
    }
    let counts_of = |removed: Option<RemovedAccount>| {
        removed.map(|removed| (removed.courses, removed.modules, removed.keys, removed.tokens))
    };
    for (account, expected) in
        [("a", Some((2, 5, 2, 1))), ("a", None), ("empty", Some((0, 0, 0, 0))), ("b", Some((1, 1, 2, 1)))]
    {
        let removed = counts_of(remove_account(storage, account).await);
        assert_eq!(removed, expected, "Removing returns counts of courses, modules, keys and tokens: {account:?}.");
    }
    assert_eq!(export(storage).await, [], "A storage whose accounts were removed is empty.");
}

/// A later account with the same id starts without courses or credentials, and never gets a revision that the removed one had.
/// Its credentials can be created again.
pub async fn recreated_account_starts_empty(storage: &impl Storage) {
    const RULE: &str = "A recreated account never gets a revision of the removed one.";
    let mut seen_revisions = HashSet::new();
    for _ in 0..4 {
        seed_two(storage).await;
        assert!(revision(storage, "a").await.is_none_or(|revision| seen_revisions.insert(revision)), "{RULE}");
        for account in ["a", "b"] {
            remove_account(storage, account).await;
        }
        let gone = revision(storage, "a").await;
        assert!(
            gone.is_none_or(|gone| !seen_revisions.contains(&gone)),
            "A removed account never has one of its earlier revisions."
        );
        seed_accounts(storage, &["a"]).await;
        assert!(revision(storage, "a").await.is_none_or(|revision| seen_revisions.insert(revision)), "{RULE}");
        assert_eq!(slugs(storage, "a").await, [""; 0], "A recreated account has no courses of the removed one.");
        assert_eq!(
            list(storage, &id("a")).await,
            Some(vec![]),
            "A recreated account has no credentials of the removed one."
        );
        remove_account(storage, "a").await;
    }
}

/// Removing a course returns whether it existed. Its account remains, even without courses.
pub async fn removing_returns_whether_course_existed(storage: &impl Storage) {
    seed(storage, &[course("a", "c"), course("b", "other")]).await;
    for (account, slug) in [("a", "C"), ("a", "c "), ("a", ""), ("a", "%"), ("a", "other"), ("b", "c"), ("x", "c")] {
        let existed =
            AdminStorage::remove_course(storage, &id(account), slug).await.expect("an unknown course is accepted");
        assert!(!existed, "Removing an unknown course returns false: {slug:?} of {account}.");
    }
    assert_eq!(slugs(storage, "a").await, ["c"], "Removing an unknown course removes no other.");
    for expected in [true, false] {
        let existed = AdminStorage::remove_course(storage, &id("a"), "c").await.expect("a course can be removed");
        assert_eq!(existed, expected, "Removing a course returns whether it existed.");
    }
    let mut rest: Vec<_> = ["a", "b"].map(|id| Record::Account(account(id))).into();
    rest.push(Record::Course(course("b", "other")));
    assert_eq!(export(storage).await, rest, "Removing a course removes no other, and its account remains.");
}

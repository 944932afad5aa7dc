//! Replacing a key by its successor.

use catalogue_core::admin::NewCredential;
use catalogue_core::storage::StorageErrorKind;

use crate::KeyFixture;
use crate::credential_lookup::{as_stored, assert_stored};
use crate::key_calls::{assert_all, create, create_some, key_id as id, revoke, rotate};
use crate::seed::{api_key, create_account, second};

/// Creation time of successors, in seconds after the default time.
const NOW: i64 = 10;
/// End of the replaced keys, in seconds after the default time.
const END: i64 = 20;

/// Returns a key that expires `expires_at` seconds after the default time, or never.
fn key(account: &str, id: &str, token: &str, expires_at: Option<i64>) -> NewCredential {
    let mut key = api_key(account, id, token);
    key.record.expires_at = expires_at.map(second);
    key
}

/// Returns a key that can be stored as a successor.
async fn successor(fixture: &impl KeyFixture, id: &str, token: &str) -> NewCredential {
    let mut key = key("a", id, token, Some(99));
    key.record.created_at = second(NOW);
    as_stored(fixture, &key).await
}

/// Rotating an API key or OAuth token ends it, stores its successor, and returns the replaced credential.
pub async fn rotation_ends_old_key_and_stores_successor(fixture: &impl KeyFixture) {
    let account = create_account(fixture, "a").await;
    let mut keys = create_some(fixture).await;
    let mut stored = vec![keys.remove(0)];
    for (index, mut old) in keys.into_iter().enumerate() {
        let new = successor(fixture, &format!("new_{index}"), &format!("new-{index}")).await;
        let rotated = rotate(fixture, id(&old), second(END), &new).await;
        old.record.expires_at = Some(second(END));
        old.record.replaced_by = Some(id(&new).into());
        assert_eq!(
            rotated,
            Ok(Some(old.record.clone())),
            "Rotating returns the replaced key, with its end and its successor."
        );
        stored.extend([old, new]);
    }
    let rule = "Rotating ends the old key, stores the new one, and changes no other.";
    assert_all(fixture, &account, &stored, rule).await;
}

/// A key ends at its expiry or at the requested end, whichever is earlier, even immediately.
pub async fn rotated_key_ends_at_earlier_of_both_ends(fixture: &impl KeyFixture) {
    create_account(fixture, "a").await;
    let ends = [
        ("key_1", Some(END - 1), END, END - 1),
        ("key_2", Some(END + 1), END, END),
        ("key_3", None, NOW, NOW),
        ("key_4", Some(NOW + 1), NOW, NOW),
    ];
    for (name, expires_at, ends_at, expected) in ends {
        let old = create(fixture, &key("a", name, name, expires_at)).await;
        let new = successor(fixture, &format!("{name}_new"), &format!("{name}-new")).await;
        let rotated = rotate(fixture, id(&old), second(ends_at), &new).await.expect("a key can be rotated");
        let expiry = rotated.and_then(|record| record.expires_at);
        assert_eq!(expiry, Some(second(expected)), "The earlier of the expiry and the requested end applies.");
    }
}

/// Revoked and expired keys, those of other accounts and unknown ones are not rotated, and nothing changes.
pub async fn only_active_key_is_rotated(fixture: &impl KeyFixture) {
    const RULE: &str = "Only an active key of the account is rotated; otherwise nothing changes.";
    let (a, b) = (create_account(fixture, "a").await, create_account(fixture, "b").await);
    let mut revoked = key("a", "key_1", "token-1", None);
    revoked.record.revoked_at = Some(second(NOW + 1));
    let mut stored = Vec::new();
    for key in [revoked, key("a", "key_2", "token-2", Some(NOW)), key("a", "key_3", "token-3", Some(NOW - 1))] {
        stored.push(create(fixture, &key).await);
    }
    let other_key = [create(fixture, &key("b", "key_4", "token-4", None)).await];
    let ids = stored.iter().chain(&other_key).map(id).chain(["KEY_2", "key_", "", "%", "' OR ''='"]);
    for id in ids {
        let new = successor(fixture, "key_5", "token-5").await;
        assert_eq!(rotate(fixture, id, second(END), &new).await, Ok(None), "{RULE} {id:?}");
        assert_all(fixture, &a, &stored, RULE).await;
    }
    assert_all(fixture, &b, &other_key, RULE).await;
}

/// A key that has a successor is not rotated again, whatever the successor's state; the successor can be rotated.
pub async fn key_with_successor_is_not_rotated_again(fixture: &impl KeyFixture) {
    const RULE: &str = "A key with a successor is not rotated again; its successor is.";
    let account = create_account(fixture, "a").await;
    let mut old = create(fixture, &key("a", "key_1", "token-1", Some(99))).await;
    let mut new = successor(fixture, "key_2", "token-2").await;
    let rotated = rotate(fixture, id(&old), second(END), &new).await;
    assert!(rotated.is_ok_and(|rotated| rotated.is_some()), "{RULE}");
    (old.record.expires_at, old.record.replaced_by) = (Some(second(END)), Some(id(&new).into()));
    let mut newest = successor(fixture, "key_3", "token-3").await;
    assert_eq!(rotate(fixture, id(&old), second(NOW + 1), &newest).await, Ok(None), "{RULE}");
    assert_all(fixture, &account, &[old.clone(), new.clone()], RULE).await;

    newest.record.created_at = second(NOW + 1);
    let rotated = rotate(fixture, id(&new), second(END), &newest).await;
    (new.record.expires_at, new.record.replaced_by) = (Some(second(END)), Some(id(&newest).into()));
    assert_eq!(rotated, Ok(Some(new.record.clone())), "{RULE}");
    let at = second(NOW + 2);
    revoke(fixture, &account, id(&new), at).await;
    new.record.revoked_at = Some(at);
    let mut late = successor(fixture, "key_4", "token-4").await;
    late.record.created_at = second(NOW + 3);
    assert_eq!(rotate(fixture, id(&old), second(END), &late).await, Ok(None), "{RULE}");
    assert_all(fixture, &account, &[old, new, newest], RULE).await;
}

/// A successor whose digest or id exists already is refused, and the key that it was to replace is unchanged.
pub async fn refused_successor_leaves_key_unchanged(fixture: &impl KeyFixture) {
    const RULE: &str = "An existing successor is refused as AlreadyExists, and no key ends.";
    let account = create_account(fixture, "a").await;
    create_account(fixture, "b").await;
    let mut stored = Vec::new();
    for key in [key("a", "key_1", "token-1", None), key("a", "key_2", "token-2", None)] {
        stored.push(create(fixture, &key).await);
    }
    let other_key = create(fixture, &key("b", "key_3", "token-3", None)).await;
    for (name, token) in
        [("key_1", "token-9"), ("key_2", "token-9"), ("key_3", "token-9"), ("key_9", "token-1"), ("key_9", "token-3")]
    {
        let new = successor(fixture, name, token).await;
        let refused = rotate(fixture, id(&stored[0]), second(END), &new).await;
        assert_eq!(refused, Err(StorageErrorKind::AlreadyExists), "{RULE}");
        assert_all(fixture, &account, &stored, RULE).await;
    }
    assert_stored(fixture, &other_key, RULE).await;
}

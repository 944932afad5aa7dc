//! Creating keys.

use catalogue_core::storage::StorageErrorKind;

use crate::KeyFixture;
use crate::credential_lookup::{as_stored, assert_stored, find};
use crate::key_calls::{assert_all, create, list, some_keys, try_create};
use crate::seed::{api_key, create_account, digest, oauth_tokens};

/// An API key or OAuth token is found and listed from its creation on.
pub async fn key_is_active_from_creation(fixture: &impl KeyFixture) {
    const RULE: &str = "A key is found and listed from its creation on, and no other is changed.";
    let account = create_account(fixture, "a").await;
    let mut stored = Vec::new();
    for key in &some_keys(fixture) {
        assert_eq!(find(fixture, &key.digest).await, None, "{RULE}");
        stored.push(create(fixture, key).await);
        assert_all(fixture, &account, &stored, RULE).await;
    }
}

/// A key of an unknown account is refused as an unknown reference, and not stored.
pub async fn key_of_unknown_account_is_refused(fixture: &impl KeyFixture) {
    create_account(fixture, "known").await;
    let mut keys = vec![api_key("unknown", "key_1", "token-1"), api_key("Known", "key_2", "token-2")];
    keys.extend(oauth_tokens(fixture, [("Known", "token-3")]));
    for key in &keys {
        let refused = try_create(fixture, &as_stored(fixture, key).await).await;
        let expected = Err(StorageErrorKind::UnknownReference);
        assert_eq!(refused, expected, "A key of an unknown account is refused as UnknownReference.");
        assert_eq!(find(fixture, &key.digest).await, None, "A refused key is not stored.");
    }
    for name in ["unknown", "Known"] {
        let account = create_account(fixture, name).await;
        assert_eq!(list(fixture, &account).await, Some(vec![]), "A refused key does not appear in a later account.");
    }
}

/// A key is refused if any account has one with its digest or its id; the existing key is unchanged.
pub async fn existing_key_is_refused(fixture: &impl KeyFixture) {
    create_account(fixture, "a").await;
    create_account(fixture, "b").await;
    let existing = create(fixture, &api_key("a", "key_1", "token-1")).await;
    for (again, what) in [
        (api_key("a", "key_2", "token-1"), "digest"),
        (api_key("b", "key_2", "token-1"), "digest, in another account"),
        (api_key("a", "key_1", "token-2"), "id"),
        (api_key("b", "key_1", "token-2"), "id, in another account"),
    ] {
        let refused = try_create(fixture, &as_stored(fixture, &again).await).await;
        let expected = Err(StorageErrorKind::AlreadyExists);
        assert_eq!(refused, expected, "A key is refused as AlreadyExists if one has the same {what}.");
    }
    assert_stored(fixture, &existing, "A refused key leaves the existing one unchanged.").await;
    assert_eq!(find(fixture, &digest("token-2")).await, None, "A refused key is not stored.");
}

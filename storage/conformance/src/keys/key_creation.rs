//! Creating keys.

use catalogue_core::storage::StorageErrorKind;

use crate::KeyFixture;
use crate::key_calls::{assert_all, create, list, try_create};
use crate::looking_up::{assert_stored, find, held};
use crate::seed::{api_key, digest, known, oauth_token};

/// A credential of either kind is found, and listed, from its creation on.
pub async fn a_key_holds_from_its_creation_on(fixture: &impl KeyFixture) {
    const RULE: &str = "A key is found and listed from its creation on, and no other is changed.";
    let account = known(fixture, "a").await;
    let mut forever = api_key("a", "key_2", "token-2");
    forever.record.expires_at = None;
    let mut keys = vec![api_key("a", "key_1", "token-1"), forever];
    keys.extend(fixture.has_oauth_tokens().then(|| oauth_token("a", "token-3")));
    let mut stored = Vec::new();
    for key in &keys {
        assert_eq!(find(fixture, &key.digest).await, None, "{RULE}");
        stored.push(create(fixture, key).await);
        assert_all(fixture, &account, &stored, RULE).await;
    }
}

/// A key of an unknown account is refused as an unknown reference, and not stored.
pub async fn a_key_of_an_unknown_account_is_refused(fixture: &impl KeyFixture) {
    known(fixture, "known").await;
    let mut keys = vec![api_key("unknown", "key_1", "token-1"), api_key("Known", "key_2", "token-2")];
    keys.extend(fixture.has_oauth_tokens().then(|| oauth_token("Known", "token-3")));
    for key in &keys {
        let refused = try_create(fixture, &held(fixture, key).await).await;
        let expected = Err(StorageErrorKind::UnknownReference);
        assert_eq!(refused, expected, "A key of an unknown account is an UnknownReference.");
        assert_eq!(find(fixture, &key.digest).await, None, "A refused key is not stored.");
    }
    for name in ["unknown", "Known"] {
        let account = known(fixture, name).await;
        assert_eq!(list(fixture, &account).await, Some(vec![]), "A refused key is not stored, also not for later.");
    }
}

/// A key is refused if any account has one with its digest or its id; the existing key is unchanged.
pub async fn a_key_that_is_there_is_refused(fixture: &impl KeyFixture) {
    known(fixture, "a").await;
    known(fixture, "b").await;
    let there = create(fixture, &api_key("a", "key_1", "token-1")).await;
    for (again, what) in [
        (api_key("a", "key_2", "token-1"), "digest"),
        (api_key("b", "key_2", "token-1"), "digest, in another account"),
        (api_key("a", "key_1", "token-2"), "id"),
        (api_key("b", "key_1", "token-2"), "id, in another account"),
    ] {
        let refused = try_create(fixture, &held(fixture, &again).await).await;
        let expected = Err(StorageErrorKind::AlreadyThere);
        assert_eq!(refused, expected, "A key is AlreadyThere when one has the same {what}.");
    }
    assert_stored(fixture, &there, "A refused key replaces none.").await;
    assert_eq!(find(fixture, &digest("token-2")).await, None, "A refused key is not stored.");
}

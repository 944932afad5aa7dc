//! Renaming and revoking keys.

use catalogue_core::Timestamp;

use crate::KeyFixture;
use crate::credential_lookup::assert_stored;
use crate::key_calls::{assert_all, create, create_some, key_id, rename, revoke};
use crate::seed::{api_key, create_account, second};
use crate::texts::unusual_texts;

/// A renamed key is returned and listed with its new name, whatever the text, and nothing else changes.
pub async fn key_accepts_any_name(fixture: &impl KeyFixture) {
    let account = create_account(fixture, "a").await;
    let mut unnamed = api_key("a", "key_1", "token-1");
    unnamed.record.name = None;
    let mut used = api_key("a", "key_2", "token-2");
    used.record.last_used_at = Some(second(3));
    let mut keys = [create(fixture, &unnamed).await, create(fixture, &used).await];
    for (index, name) in unusual_texts().into_iter().enumerate() {
        let key = &mut keys[index % 2].record;
        let renamed = rename(fixture, &account, &key.identity.credential_id, &name).await;
        key.name = Some(name);
        assert_eq!(renamed.as_ref(), Some(&*key), "A renamed key is returned with its new name.");
        assert_all(fixture, &account, &keys, "A renamed key has its new name, and nothing else is changed.").await;
    }
}

/// An ended key can be renamed too: it is still listed.
pub async fn ended_key_can_be_renamed(fixture: &impl KeyFixture) {
    let account = create_account(fixture, "a").await;
    let mut expired = create(fixture, &api_key("a", "key_1", "token-1")).await;
    let mut revoked = create(fixture, &api_key("a", "key_2", "token-2")).await;
    revoke(fixture, &account, key_id(&revoked), second(5)).await;
    revoked.record.revoked_at = Some(second(5));
    for key in [&mut expired.record, &mut revoked.record] {
        key.name = Some("Another".to_owned());
        let renamed = rename(fixture, &account, &key.identity.credential_id, "Another").await;
        assert_eq!(renamed.as_ref(), Some(&*key), "An ended key can be renamed.");
    }
    assert_all(fixture, &account, &[expired, revoked], "A renamed key stays ended.").await;
}

/// Revoking an API key or OAuth token returns its record, and lookups find it as revoked. Revoking again changes nothing: the
/// time of the first revocation is retained.
pub async fn second_revocation_does_not_change_time(fixture: &impl KeyFixture) {
    const RULE: &str =
        "Revoking a key returns its record with the time of the first revocation, which does not change.";
    let account = create_account(fixture, "a").await;
    for mut key in create_some(fixture).await {
        key.record.revoked_at = Some(second(5));
        for at in [second(5), second(6), second(4), Timestamp::MIN, Timestamp::MAX] {
            let revoked = revoke(fixture, &account, key_id(&key), fixture.precision().truncate(at)).await;
            assert_eq!(revoked.as_ref(), Some(&key.record), "{RULE}");
            assert_stored(fixture, &key, RULE).await;
        }
    }
}

/// Renaming or revoking an id that is not a key of the account returns `None`, and changes nothing.
pub async fn unknown_key_is_neither_renamed_nor_revoked(fixture: &impl KeyFixture) {
    const RULE: &str = "Renaming or revoking an id that is not a key of the account returns None, and changes nothing:";
    let (a, b) = (create_account(fixture, "a").await, create_account(fixture, "b").await);
    let unknown = fixture.account("unknown").await;
    let own = create(fixture, &api_key("a", "key_1", "token-1")).await;
    let other_key = create(fixture, &api_key("b", "key_2", "token-2")).await;
    let ids = [key_id(&other_key), "", "key_", "KEY_1", "key_1 ", "key_11", "key%", "%", "a", "token-1", "' OR ''='"];
    for (account, id) in ids.map(|id| (&a, id)).into_iter().chain([(&unknown, key_id(&other_key))]) {
        assert_eq!(rename(fixture, account, id, "Another").await, None, "{RULE} {id:?}.");
        assert_eq!(revoke(fixture, account, id, second(1)).await, None, "{RULE} {id:?}.");
    }
    assert_all(fixture, &a, &[own], RULE).await;
    assert_all(fixture, &b, &[other_key], RULE).await;
}

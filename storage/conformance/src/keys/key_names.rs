//! Renaming keys.

use crate::KeyFixture;
use crate::key_calls::{assert_all, create, rename, revoke};
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
    revoke(fixture, &account, &revoked.record.identity.credential_id, second(5)).await;
    revoked.record.revoked_at = Some(second(5));
    for key in [&mut expired.record, &mut revoked.record] {
        key.name = Some("Another".to_owned());
        let renamed = rename(fixture, &account, &key.identity.credential_id, "Another").await;
        assert_eq!(renamed.as_ref(), Some(&*key), "An ended key can be renamed.");
    }
    assert_all(fixture, &account, &[expired, revoked], "A renamed key stays ended.").await;
}

/// Renaming an id that is not a key of the account returns `None`, and renames nothing.
pub async fn renaming_unknown_key_returns_none(fixture: &impl KeyFixture) {
    const RULE: &str = "Renaming an id that is not a key of the account returns None, and renames nothing:";
    let (a, b) = (create_account(fixture, "a").await, create_account(fixture, "b").await);
    let own = create(fixture, &api_key("a", "key_1", "token-1")).await;
    let other_key = create(fixture, &api_key("b", "key_2", "token-2")).await;
    let other_key_id = other_key.record.identity.credential_id.clone();
    for id in [&*other_key_id, "", "key_", "KEY_1", "key_1 ", "key_11", "key%", "%", "a", "token-1", "' OR ''='"] {
        assert_eq!(rename(fixture, &a, id, "Another").await, None, "{RULE} {id:?}.");
    }
    let unknown = fixture.account("unknown").await;
    assert_eq!(rename(fixture, &unknown, &other_key_id, "Another").await, None, "{RULE} an unknown account.");
    assert_all(fixture, &a, &[own], RULE).await;
    assert_all(fixture, &b, &[other_key], RULE).await;
}

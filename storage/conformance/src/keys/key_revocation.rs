//! Revoking keys.

use catalogue_core::Timestamp;

use crate::KeyFixture;
use crate::credential_lookup::assert_stored;
use crate::key_calls::{assert_all, create, revoke};
use crate::seed::{api_key, create_account, oauth_token, second};

/// Revoking an API key or OAuth token returns its record with the revocation time; lookups find it as revoked.
pub async fn revoking_returns_record(fixture: &impl KeyFixture) {
    let account = create_account(fixture, "a").await;
    let mut keys = vec![api_key("a", "key_1", "token-1")];
    keys.extend(fixture.has_oauth_tokens().then(|| oauth_token("a", "token-2")));
    for key in &keys {
        let mut key = create(fixture, key).await;
        let id = key.record.identity.credential_id.clone();
        key.record.revoked_at = Some(second(7));
        let revoked = revoke(fixture, &account, &id, second(7)).await;
        assert_eq!(revoked.as_ref(), Some(&key.record), "Revoking a key returns its record, revoked.");
        assert_stored(fixture, &key, "A revoked key is found as revoked.").await;
    }
}

/// Revoking again changes nothing: the time of the first revocation is retained.
pub async fn second_revocation_does_not_change_time(fixture: &impl KeyFixture) {
    let account = create_account(fixture, "a").await;
    let mut key = create(fixture, &api_key("a", "key_1", "token-1")).await;
    let id = key.record.identity.credential_id.clone();
    key.record.revoked_at = Some(second(5));
    for again in [second(5), second(6), second(4), Timestamp::MIN, Timestamp::MAX] {
        let revoked = revoke(fixture, &account, &id, fixture.precision().truncate(again)).await;
        assert_eq!(revoked.as_ref(), Some(&key.record), "The time of the first revocation does not change.");
        assert_stored(fixture, &key, "The time of the first revocation does not change.").await;
    }
}

/// Revoking an id that is not a key of the account returns `None`, and revokes nothing.
pub async fn revoking_unknown_key_returns_none(fixture: &impl KeyFixture) {
    const RULE: &str = "Revoking an id that is not a key of the account returns None, and revokes nothing:";
    let (a, b) = (create_account(fixture, "a").await, create_account(fixture, "b").await);
    let own = create(fixture, &api_key("a", "key_1", "token-1")).await;
    let other_key = create(fixture, &api_key("b", "key_2", "token-2")).await;
    let other_key_id = other_key.record.identity.credential_id.clone();
    for id in [&*other_key_id, "", "key_", "KEY_1", "key_1 ", "key_11", "key%", "%", "a", "token-1", "' OR ''='"] {
        assert_eq!(revoke(fixture, &a, id, second(1)).await, None, "{RULE} {id:?}.");
    }
    let unknown = fixture.account("unknown").await;
    assert_eq!(revoke(fixture, &unknown, &other_key_id, second(1)).await, None, "{RULE} an unknown account.");
    assert_all(fixture, &a, &[own], RULE).await;
    assert_all(fixture, &b, &[other_key], RULE).await;
}

//! Calls of a [`KeyStorage`] for the cases.

use catalogue_core::admin::{CredentialRecord, NewCredential};
use catalogue_core::storage::{Actor, CredentialAction, CredentialEvent, KeyStorage, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};

use crate::KeyFixture;
use crate::credential_lookup::{as_stored, assert_stored};
use crate::seed::{api_key, oauth_tokens};

/// Result of a call, with only the kind of its error.
pub(crate) type Outcome<T> = Result<T, StorageErrorKind>;

/// Creates a key of an existing account as the fixture's tables can store it, with the fixture's ids, and returns it.
pub(crate) async fn create(fixture: &impl KeyFixture, key: &NewCredential) -> NewCredential {
    let as_stored = as_stored(fixture, key).await;
    try_create(fixture, &as_stored).await.expect("A key of a known account can be created.");
    as_stored
}

pub(crate) async fn try_create(fixture: &impl KeyFixture, key: &NewCredential) -> Outcome<()> {
    fixture.storage().create_key(key, &Actor::OWNER).await.map_err(|error| error.kind())
}

/// Creates an API key that expires, one that does not, and an OAuth token if there are any, in account `a`.
pub(crate) async fn create_some(fixture: &impl KeyFixture) -> Vec<NewCredential> {
    let mut created = Vec::new();
    for key in some_keys(fixture) {
        created.push(create(fixture, &key).await);
    }
    created
}

/// Returns the keys that [`create_some`] creates.
pub(crate) fn some_keys(fixture: &impl KeyFixture) -> Vec<NewCredential> {
    let mut lasting = api_key("a", "key_2", "token-2");
    lasting.record.expires_at = None;
    let mut keys = vec![api_key("a", "key_1", "token-1"), lasting];
    keys.extend(oauth_tokens(fixture, [("a", "token-3")]));
    keys
}

/// Returns the id of a credential.
pub(crate) fn key_id(key: &NewCredential) -> &str {
    &key.record.identity.credential_id
}

/// Returns all keys of the account.
pub(crate) async fn list(fixture: &impl KeyFixture, account: &AccountId) -> Option<Vec<CredentialRecord>> {
    list_at(fixture, account, Timestamp::MAX, usize::MAX).await
}

pub(crate) async fn list_at(
    fixture: &impl KeyFixture,
    account: &AccountId,
    now: Timestamp,
    ended: usize,
) -> Option<Vec<CredentialRecord>> {
    let listed = fixture.storage().list_keys(account, now, ended).await;
    listed.expect("Keys can be listed; an unknown account returns None, not an error.")
}

pub(crate) async fn find_key(fixture: &impl KeyFixture, account: &AccountId, id: &str) -> Option<CredentialRecord> {
    let found = fixture.storage().find_key(account, id).await;
    found.expect("A key can be looked up by its id; an unknown one returns None, not an error.")
}

pub(crate) async fn rename(
    fixture: &impl KeyFixture,
    account: &AccountId,
    id: &str,
    name: &str,
) -> Option<CredentialRecord> {
    let renamed = fixture.storage().rename_key(account, id, name, &Actor::OWNER).await;
    renamed.expect("A key can be renamed; an unknown id returns None, not an error.")
}

pub(crate) async fn revoke(
    fixture: &impl KeyFixture,
    account: &AccountId,
    id: &str,
    at: Timestamp,
) -> Option<CredentialRecord> {
    let revoked = fixture.storage().revoke_key(account, id, at, &Actor::OWNER).await;
    revoked.expect("A key can be revoked; an unknown id returns None, not an error.")
}

/// Replaces the key `id` of the successor's account.
pub(crate) async fn rotate(
    fixture: &impl KeyFixture,
    id: &str,
    ends_at: Timestamp,
    successor: &NewCredential,
) -> Outcome<Option<CredentialRecord>> {
    let account = &successor.record.identity.account;
    let rotated = fixture.storage().rotate_key(account, id, ends_at, successor, &Actor::OWNER).await;
    rotated.map_err(|error| error.kind())
}

/// Returns all events of the account, newest first.
pub(crate) async fn events(fixture: &impl KeyFixture, account: &AccountId) -> Vec<CredentialEvent> {
    last_events(fixture, account, usize::MAX).await
}

pub(crate) async fn last_events(fixture: &impl KeyFixture, account: &AccountId, limit: usize) -> Vec<CredentialEvent> {
    fixture.storage().list_events(account, limit).await.expect("Events can be listed, with any limit.")
}

/// Returns the actions on keys, newest first, each with the key's id.
pub(crate) async fn event_actions(
    fixture: &impl KeyFixture,
    account: &AccountId,
) -> Vec<(CredentialAction, Option<String>)> {
    let events = events(fixture, account).await;
    events.into_iter().map(|event| (event.action, event.credential_id.map(|id| id.as_ref().to_owned()))).collect()
}

/// Asserts that lookups and the account's list return exactly `keys`.
pub(crate) async fn assert_all(fixture: &impl KeyFixture, account: &AccountId, keys: &[NewCredential], rule: &str) {
    for key in keys {
        assert_stored(fixture, key, rule).await;
    }
    let mut expected: Vec<_> = keys.iter().map(|key| key.record.clone()).collect();
    sort(&mut expected);
    assert_eq!(list(fixture, account).await, Some(expected), "{rule}");
}

/// Sorts records like a list: oldest first, ties by id, compared by bytes.
pub(crate) fn sort(records: &mut [CredentialRecord]) {
    records.sort_by(|one, other| {
        let created = one.created_at.cmp(&other.created_at);
        created.then_with(|| one.identity.credential_id.cmp(&other.identity.credential_id))
    });
}

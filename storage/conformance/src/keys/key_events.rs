//! The log of an account's changes.

use std::collections::HashSet;

use catalogue_core::AccountId;
use catalogue_core::storage::{Actor, CredentialAction, KeyStorage, StorageErrorKind};

use crate::KeyFixture;
use crate::credential_lookup::as_stored;
use crate::key_calls::{
    create, create_some, event_actions, events, last_events, list, rename, revoke, rotate, try_create,
};
use crate::seed::{api_key, create_account, second};

/// Each change has one event, with the action, the actor, the key, the key's name after the change and, if the call has a
/// time, the time of the call.
pub async fn each_change_records_one_event(fixture: &impl KeyFixture) {
    let (storage, account) = (fixture.storage(), create_account(fixture, "a").await);
    let mut key = api_key("a", "key_1", "token-1");
    key.record.expires_at = None;
    let key = as_stored(fixture, &key).await;
    let mut successor = api_key("a", "key_2", "token-2");
    successor.record.created_at = second(10);
    let successor = as_stored(fixture, &successor).await;
    let id = &*key.record.identity.credential_id;
    let user = Actor::owner_named("user_17");
    storage.create_key(&key, &Actor::OPERATOR).await.expect("a key can be created");
    let renamed = storage.rename_key(&account, id, "Another", &user).await;
    renamed.expect("a key can be renamed").expect("a key of the account");
    let rotated = storage.rotate_key(&account, id, second(20), &successor, &Actor::OWNER).await;
    rotated.expect("a key can be rotated").expect("an active key");
    let revoked = storage.revoke_key(&account, id, second(12), &user).await;
    revoked.expect("a key can be revoked").expect("a key of the account");

    let expected = [
        (CredentialAction::KeyRevoked, Some(second(12)), &user, Some("Another")),
        (CredentialAction::KeyRotated, Some(second(10)), &Actor::OWNER, Some("Another")),
        (CredentialAction::KeyRenamed, None, &user, Some("Another")),
        (CredentialAction::KeyCreated, Some(second(0)), &Actor::OPERATOR, key.record.name.as_deref()),
    ];
    let events = events(fixture, &account).await;
    assert_eq!(events.len(), expected.len(), "Each change has one event: {events:?}.");
    for (event, (action, at, by, name)) in events.iter().zip(expected) {
        let subject = (&event.account, event.action, event.credential_id.as_deref(), event.name.as_deref());
        assert_eq!(subject, (&account, action, Some(id), name), "An event contains its action and its key.");
        assert_eq!(&event.actor, by, "An event contains its actor.");
        assert!(at.is_none_or(|at| at == event.at), "An event has the time of its call: {event:?}.");
    }
}

/// A call that changes nothing has no event: a second revocation, the current name, an unknown key or a refusal.
pub async fn calls_without_change_record_no_event(fixture: &impl KeyFixture) {
    const RULE: &str = "A call without a change has no event:";
    let (a, b) = (create_account(fixture, "a").await, create_account(fixture, "b").await);
    let key = create(fixture, &api_key("a", "key_1", "token-1")).await;
    let mut other_key = api_key("b", "key_2", "token-2");
    other_key.record.expires_at = None;
    let other_key = create(fixture, &other_key).await;
    let (id, name) = (&*key.record.identity.credential_id, key.record.name.as_deref().expect("keys have names"));
    let other_key_id = &*other_key.record.identity.credential_id;
    revoke(fixture, &a, id, second(1)).await;
    let logged = async || (events(fixture, &a).await, events(fixture, &b).await);
    let before = logged().await;

    rename(fixture, &a, id, name).await.expect("a key of the account");
    assert_eq!(logged().await, before, "{RULE} the current name.");
    revoke(fixture, &a, id, second(2)).await.expect("a key of the account");
    assert_eq!(logged().await, before, "{RULE} a second revocation.");
    for absent in [other_key_id, "unknown"] {
        assert_eq!(rename(fixture, &a, absent, "Another").await, None, "a key of another account, or an unknown one");
        assert_eq!(revoke(fixture, &a, absent, second(2)).await, None, "a key of another account, or an unknown one");
    }
    assert_eq!(logged().await, before, "{RULE} renaming and revoking an unknown key.");
    let mut successor = as_stored(fixture, &api_key("a", "key_3", "token-3")).await;
    for ended in [id, other_key_id, "unknown"] {
        assert_eq!(rotate(fixture, ended, second(1), &successor).await, Ok(None), "an ended or unknown key");
    }
    successor.digest = other_key.digest;
    successor.record.identity.account = b.clone();
    let refused = rotate(fixture, other_key_id, second(1), &successor).await;
    assert_eq!(refused, Err(StorageErrorKind::AlreadyExists), "a successor with an existing digest");
    assert_eq!(logged().await, before, "{RULE} a refused rotation.");
    assert_eq!(try_create(fixture, &key).await, Err(StorageErrorKind::AlreadyExists), "an existing key");
    let unknown = as_stored(fixture, &api_key("c", "key_4", "token-4")).await;
    assert_eq!(try_create(fixture, &unknown).await, Err(StorageErrorKind::UnknownReference), "an unknown account");
    assert_eq!(logged().await, before, "{RULE} a refused key.");
    let c = create_account(fixture, "c").await;
    assert_eq!(events(fixture, &c).await, [], "{RULE} a refused key of a later account.");
}

/// Events are in the order of the changes, newest first, whatever their times, and no more than requested.
pub async fn events_are_listed_newest_first(fixture: &impl KeyFixture) {
    let account = create_account(fixture, "a").await;
    let mut expected = Vec::new();
    for index in 0..12 {
        let mut key = api_key("a", &format!("key_{}", index * 7 % 12), &format!("token-{index}"));
        key.record.created_at = second(index * 5 % 12);
        let key = create(fixture, &key).await;
        expected.insert(0, (CredentialAction::KeyCreated, Some(key.record.identity.credential_id.as_ref().to_owned())));
    }
    assert_eq!(
        event_actions(fixture, &account).await,
        expected,
        "Events are in the order of the changes, newest first."
    );
    let all = events(fixture, &account).await;
    let ids: HashSet<_> = all.iter().map(|event| &event.id).collect();
    assert_eq!(ids.len(), 12, "No two events have the same id.");
    for limit in [0, 1, 5, 11, 12, 13, 1_000] {
        let some = last_events(fixture, &account, limit).await;
        assert_eq!(some, all[..limit.min(12)], "The last events are listed, up to the limit: {limit}.");
    }
}

/// An event keeps the key's name at the time of the event, and all its other fields, whatever happens to the key.
pub async fn events_keep_key_name_at_their_time(fixture: &impl KeyFixture) {
    let account = create_account(fixture, "a").await;
    let keys = create_some(fixture).await;
    let before = events(fixture, &account).await;
    let names: Vec<_> = before.iter().rev().map(|event| event.name.clone()).collect();
    let expected: Vec<_> = keys.iter().map(|key| key.record.name.clone()).collect();
    assert_eq!(names, expected, "An event has the key's name at its time; an OAuth token has none.");
    let id = &keys[0].record.identity.credential_id;
    for name in ["Second", "Third", ""] {
        rename(fixture, &account, id, name).await;
    }
    revoke(fixture, &account, id, second(1)).await;
    let after = events(fixture, &account).await;
    let names: Vec<_> = after[..4].iter().map(|event| event.name.as_deref()).collect();
    assert_eq!(names, [Some(""), Some(""), Some("Third"), Some("Second")], "An event of a rename has the new name.");
    assert_eq!(after[4..], before, "Events do not change when their key is renamed.");
}

/// An account's log contains only its own events.
pub async fn events_belong_to_one_account(fixture: &impl KeyFixture) {
    let names = ["a", "A", "b"];
    let mut own: Vec<(AccountId, String)> = Vec::new();
    for name in names {
        let account = create_account(fixture, name).await;
        let key = create(fixture, &api_key(name, &format!("key of {name}"), &format!("token-{name}"))).await;
        own.push((account, key.record.identity.credential_id.as_ref().to_owned()));
    }
    for (account, id) in &own {
        rename(fixture, account, id, "The same name").await;
    }
    for (account, id) in own {
        let expected =
            [CredentialAction::KeyRenamed, CredentialAction::KeyCreated].map(|action| (action, Some(id.clone())));
        assert_eq!(event_actions(fixture, &account).await, expected, "An account's log contains only its own events.");
    }
    for unknown in ["unknown", "", "a ", "%"] {
        let unknown = fixture.account(unknown).await;
        assert_eq!(events(fixture, &unknown).await, [], "An unknown account has no events.");
    }
}

/// Keys and events are removed with their account, but not with another; a later account with the same id has none of them.
pub async fn events_are_removed_with_their_account(fixture: &impl KeyFixture) {
    let (a, b) = (create_account(fixture, "a").await, create_account(fixture, "b").await);
    for name in ["a", "b"] {
        create(fixture, &api_key(name, &format!("key of {name}"), &format!("token-{name}"))).await;
    }
    let of_b = events(fixture, &b).await;
    fixture.remove_account(&a).await;
    assert_eq!(events(fixture, &a).await, [], "The events of an account are removed with it.");
    assert_eq!(list(fixture, &a).await, None, "A removed account has no list of keys.");
    create_account(fixture, "a").await;
    assert_eq!(events(fixture, &a).await, [], "A recreated account has no events of the removed one.");
    assert_eq!(events(fixture, &b).await, of_b, "Removing an account leaves other accounts' events unchanged.");
    let remaining = list(fixture, &b).await.map(|keys| keys.len());
    assert_eq!(remaining, Some(1), "Removing an account leaves other accounts' keys unchanged.");
}

//! Concurrent calls: one of several exclusive calls succeeds, and a change and its event become visible together.

use catalogue_core::storage::{CredentialAction, StorageErrorKind};

use crate::KeyFixture;
use crate::concurrency::{on_threads, read_during_writes};
use crate::credential_lookup::{as_stored, find};
use crate::key_calls::{create, event_actions, events, list, revoke, rotate, try_create};
use crate::seed::{api_key, create_account, second};

/// Number of concurrent calls.
const CONCURRENT_CALLS: usize = 6;
/// Number of repetitions, each with another key.
const ROUNDS: usize = 5;

/// If several calls create a key with the same id, one succeeds and has an event; the others fail as already existing.
pub async fn one_of_many_concurrent_creations_succeeds(fixture: &impl KeyFixture) {
    let account = create_account(fixture, "a").await;
    for round in 1..=ROUNDS {
        let outcomes = on_threads(CONCURRENT_CALLS, async |number| {
            let token = format!("token-{round}-{number}");
            let key = as_stored(fixture, &api_key("a", &format!("key_{round}"), &token)).await;
            (try_create(fixture, &key).await, find(fixture, &key.digest).await.is_some())
        });
        let done = outcomes.iter().filter(|(outcome, found)| outcome.is_ok() && *found).count();
        assert_eq!(done, 1, "One of several concurrent creations with the same id succeeds: {outcomes:?}.");
        let others =
            outcomes.iter().filter(|outcome| **outcome == (Err(StorageErrorKind::AlreadyExists), false)).count();
        assert_eq!(others, CONCURRENT_CALLS - 1, "The other creations fail as AlreadyExists: {outcomes:?}.");
        let listed = list(fixture, &account).await.expect("the account is known").len();
        assert_eq!((listed, events(fixture, &account).await.len()), (round, round), "One key and one event exist.");
    }
}

/// If several calls rotate a key concurrently, one stores its successor, and the rotation has one event.
pub async fn one_of_many_concurrent_rotations_succeeds(fixture: &impl KeyFixture) {
    let account = create_account(fixture, "a").await;
    for round in 1..=ROUNDS {
        let mut old = api_key("a", &format!("key_{round}"), &format!("token-{round}"));
        old.record.expires_at = None;
        let old = create(fixture, &old).await;
        let id = old.record.identity.credential_id.clone();
        let outcomes = on_threads(CONCURRENT_CALLS, async |number| {
            let name = format!("{round}-{number}");
            let new = as_stored(fixture, &api_key("a", &format!("key_{name}"), &format!("token-{name}"))).await;
            rotate(fixture, &id, second(20), &new).await.map(|rotated| rotated.is_some())
        });
        let done = outcomes.iter().filter(|outcome| **outcome == Ok(true)).count();
        assert_eq!(done, 1, "One of several concurrent successors of a key is stored: {outcomes:?}.");
        let none = outcomes.iter().filter(|outcome| **outcome == Ok(false)).count();
        assert_eq!(
            none,
            CONCURRENT_CALLS - 1,
            "Rotating a key that already has a successor returns None, not an error: {outcomes:?}."
        );
        let listed = list(fixture, &account).await.expect("the account is known").len();
        let logged = event_actions(fixture, &account).await.into_iter();
        let rotations = logged.filter(|(action, _)| *action == CredentialAction::KeyRotated).count();
        assert_eq!((listed, rotations), (round * 2, round), "One successor and one event of its rotation are stored.");
    }
}

/// A key that several concurrent calls revoke is revoked once, with one event.
pub async fn one_of_many_concurrent_revocations_takes_effect(fixture: &impl KeyFixture) {
    let account = create_account(fixture, "a").await;
    for round in 1..=ROUNDS {
        let key = create(fixture, &api_key("a", &format!("key_{round}"), &format!("token-{round}"))).await;
        let id = &key.record.identity.credential_id;
        let revoked = on_threads(CONCURRENT_CALLS, async |number| {
            revoke(fixture, &account, id, second(number as i64)).await.and_then(|record| record.revoked_at)
        });
        let same = revoked[0].is_some() && revoked.iter().all(|at| *at == revoked[0]);
        assert!(same, "A key is revoked once, and each call returns the same time: {revoked:?}.");
        let logged = event_actions(fixture, &account).await;
        let revocations = logged.iter().filter(|(action, _)| *action == CredentialAction::KeyRevoked).count();
        assert_eq!(revocations, round, "A key that is revoked once has one event.");
    }
}

/// A reader that sees a change sees its event, and one that sees an event sees its change.
pub async fn key_and_its_event_become_visible_together(fixture: &impl KeyFixture) {
    const RULE: &str = "A change and its event are committed together";
    let account = create_account(fixture, "a").await;
    let read = async || {
        let before = event_actions(fixture, &account).await;
        let keys = list(fixture, &account).await.expect("the account is known");
        let after = event_actions(fixture, &account).await;
        let created = |id: &str| (CredentialAction::KeyCreated, Some(id.to_owned()));
        for key in &keys {
            let id = &*key.identity.credential_id;
            assert!(after.contains(&created(id)), "{RULE}: {id} was visible before its event.");
        }
        for (_, id) in before {
            let id = id.expect("each event names a key");
            let there = keys.iter().any(|key| *key.identity.credential_id == *id);
            assert!(there, "{RULE}: the event of {id} was visible before the key.");
        }
    };
    let write = async |number| {
        create(fixture, &api_key("a", &format!("key_{number}"), &format!("token-{number}"))).await;
    };
    read_during_writes(read, write).await;
}

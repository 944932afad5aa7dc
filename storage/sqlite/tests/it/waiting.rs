//! A change of keys or sign-ins waits for another program that writes, without blocking the caller's thread.

use std::pin::pin;
use std::time::Duration;

use catalogue_core::admin::NewCredential;
use catalogue_core::auth::{Scopes, TokenDigest};
use catalogue_core::storage::{Actor, KeyStorage, NewSession, NewSignIn, SignInStorage, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};
use catalogue_sqlite::SqliteStorage;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::{database_in, fixture, import_one_course};

const ACTOR: &Actor = &Actor::OWNER;

/// Returns a storage with an account, and the host application's connection, which can write to the database.
async fn with_host() -> (SqliteStorage, AccountId, Connection, TempDir) {
    let (storage, directory) = fixture().await;
    let account = import_one_course(&storage).await;
    let host = Connection::open(database_in(&directory)).unwrap();
    (storage, account, host, directory)
}

fn new_key(account: &AccountId) -> NewCredential {
    NewCredential::api_key(account.clone(), "a key", Scopes::from_names(["read:courses"])).1
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_microseconds(second * 1_000_000).unwrap()
}

fn link(account: &AccountId, number: u8) -> NewSignIn {
    NewSignIn {
        digest: TokenDigest::from_bytes([number; 32]),
        account: account.clone(),
        created_at: at(0),
        expires_at: at(10),
    }
}

fn session(number: u8) -> NewSession {
    NewSession { digest: TokenDigest::from_bytes([number; 32]), created_at: at(0), expires_at: at(10) }
}

/// Polls the call once, and expects it to wait. All tests here run on one thread, so a pending call has released it.
macro_rules! assert_pending {
    ($call:expr) => {
        tokio::select! {
            biased;
            outcome = $call => panic!("{outcome:?} while another program writes"),
            () = async {} => {}
        }
    };
}

#[tokio::test]
async fn reads_continue_while_changes_wait() {
    let (storage, account, host, _directory) = with_host().await;
    storage.create_link(&link(&account, 1), ACTOR).await.unwrap();
    host.execute_batch("BEGIN IMMEDIATE").unwrap();
    let key = new_key(&account);
    let mut change = pin!(storage.create_key(&key, ACTOR));
    assert_pending!(change.as_mut());
    let (digest, session) = (TokenDigest::from_bytes([1; 32]), session(2));
    let mut exchange = pin!(storage.exchange_link(&digest, at(0), &session));
    assert_pending!(exchange.as_mut());
    assert!(storage.list_keys(&account, Timestamp::MAX, usize::MAX).await.unwrap().unwrap().is_empty());
    assert_eq!(storage.list_events(&account, 9).await.unwrap().len(), 1);
    assert_eq!(storage.find_session(&session.digest).await.unwrap(), None);
    host.execute_batch("COMMIT").unwrap();
    change.await.unwrap();
    assert_eq!(exchange.await.unwrap().unwrap().id, account);
    assert_eq!(storage.list_keys(&account, Timestamp::MAX, usize::MAX).await.unwrap().unwrap().len(), 1);
    assert_eq!(storage.list_events(&account, 9).await.unwrap().len(), 3);
}

/// Any client may send a code, without a credential.
#[tokio::test]
async fn unknown_or_expired_code_does_not_wait_for_the_lock() {
    let (storage, account, host, _directory) = with_host().await;
    storage.create_link(&link(&account, 1), ACTOR).await.unwrap();
    host.execute_batch("BEGIN IMMEDIATE").unwrap();
    for (number, now) in [(7, 0), (1, 10)] {
        let exchanged = storage.exchange_link(&TokenDigest::from_bytes([number; 32]), at(now), &session(2)).await;
        assert_eq!(exchanged.unwrap(), None, "{number} at {now}");
    }
}

#[tokio::test]
async fn change_fails_with_busy_after_timeout_without_effect() {
    let (storage, account, host, _directory) = with_host().await;
    let (old, new) = (new_key(&account), new_key(&account));
    let id = &*old.record.identity.credential_id;
    storage.create_key(&old, ACTOR).await.unwrap();
    storage.create_link(&link(&account, 1), ACTOR).await.unwrap();
    let contents = || super::failing_writes::shim::contents(host.path().unwrap().as_ref());
    let before = contents();
    let impatient = storage.clone().write_timeout(Duration::from_millis(1));
    host.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (digest, now) = (TokenDigest::from_bytes([1; 32]), at(0));
    for refused in [
        impatient.create_key(&new, ACTOR).await.err(),
        impatient.rename_key(&account, id, "new", ACTOR).await.err(),
        impatient.rotate_key(&account, id, now, &new, ACTOR).await.err(),
        impatient.revoke_key(&account, id, now, ACTOR).await.err(),
        impatient.create_link(&link(&account, 2), ACTOR).await.err(),
        impatient.exchange_link(&digest, now, &session(3)).await.err(),
        impatient.end_session(&digest).await.err(),
        impatient.end_sign_ins(&account, ACTOR).await.err(),
    ] {
        let refused = refused.expect("another program writes");
        assert_eq!(refused.kind(), StorageErrorKind::Busy);
        assert!(refused.to_string().contains("another program is writing"), "{refused}");
    }
    host.execute_batch("COMMIT").unwrap();
    assert_eq!(contents(), before);
    impatient.revoke_key(&account, id, now, ACTOR).await.unwrap().unwrap();
}

/// The call is dropped, as when a client disconnects: the change is made completely or not at all.
#[tokio::test]
async fn dropped_change_is_atomic() {
    let (storage, account, host, _directory) = with_host().await;
    host.execute_batch("BEGIN IMMEDIATE").unwrap();
    let key = new_key(&account);
    {
        let mut change = pin!(storage.create_key(&key, ACTOR));
        assert_pending!(change.as_mut());
    }
    host.execute_batch("COMMIT").unwrap();
    let count = "SELECT (SELECT count(*) FROM credentials), (SELECT count(*) FROM credential_events)";
    loop {
        match host.query_row(count, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap() {
            (1, 1) => break,
            counts => assert_eq!(counts, (0, 0)),
        }
        tokio::task::yield_now().await;
    }
}

/// Several events share a millisecond, so their times do not order them.
#[tokio::test]
async fn events_keep_creation_order() {
    let storage = SqliteStorage::in_memory().unwrap();
    let account = import_one_course(&storage).await;
    // Only the last twenty renames of a key keep their events.
    let keys: Vec<_> = (0..10).map(|_| new_key(&account)).collect();
    for key in &keys {
        storage.create_key(key, ACTOR).await.unwrap();
    }
    for number in 0..200 {
        let id = &keys[number % keys.len()].record.identity.credential_id;
        storage.rename_key(&account, id, &number.to_string(), ACTOR).await.unwrap();
    }
    let events = storage.list_events(&account, 200).await.unwrap();
    let names: Vec<_> = events.iter().rev().map(|event| event.name.clone().unwrap()).collect();
    assert_eq!(names, (0..200).map(|number| number.to_string()).collect::<Vec<_>>());
}

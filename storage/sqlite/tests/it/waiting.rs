//! A change of keys or sign-ins waits for another program that writes, without blocking the caller's thread.

use std::pin::pin;
use std::time::Duration;

use catalogue_core::admin::NewCredential;
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{Actor, KeyStorage, SignInStorage, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};
use catalogue_sqlite::SqliteStorage;
use catalogue_storage_tests::database::{at, digest, link, session};
use catalogue_storage_tests::outcomes::{SETTINGS_CALLS, prepare, run_call};

use tokio::time::sleep;

use crate::failing_writes::shim::contents;
use crate::{Sqlite, import_one_course};

const ACTOR: &Actor = &Actor::OWNER;

/// Returns a database with an account.
async fn with_account() -> (Sqlite, AccountId) {
    let database = Sqlite::new().await;
    let account = import_one_course(&database.storage).await;
    (database, account)
}

fn new_key(account: &AccountId) -> NewCredential {
    NewCredential::api_key(account.clone(), "a key", Scopes::from_names(["read:courses"])).1
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
    let (database, account) = with_account().await;
    let (storage, host) = (&database.storage, database.host());
    storage.create_link(&link("acc", 1, 0), ACTOR).await.unwrap();
    host.execute_batch("BEGIN IMMEDIATE").unwrap();
    let key = new_key(&account);
    let mut change = pin!(storage.create_key(&key, ACTOR));
    assert_pending!(change.as_mut());
    let (digest, session) = (digest(1), session(2, 0));
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
    let (database, _) = with_account().await;
    let (storage, host) = (&database.storage, database.host());
    storage.create_link(&link("acc", 1, 0), ACTOR).await.unwrap();
    host.execute_batch("BEGIN IMMEDIATE").unwrap();
    for (number, now) in [(7, 0), (1, 10)] {
        let exchanged = storage.exchange_link(&digest(number), at(now), &session(2, 0)).await;
        assert_eq!(exchanged.unwrap(), None, "{number} at {now}");
    }
}

#[tokio::test]
async fn change_fails_with_busy_after_timeout_without_effect() {
    let database = Sqlite::new().await;
    let key = prepare(&database.storage).await;
    let before = contents(&database.path());
    let impatient = database.storage.clone().write_timeout(Duration::from_millis(1));
    database.host().execute_batch("BEGIN IMMEDIATE").unwrap();
    for (call, _) in SETTINGS_CALLS {
        let refused = run_call(call, &impatient, &key).await.unwrap_err();
        assert_eq!(refused.kind(), StorageErrorKind::Busy, "{call}");
        assert!(refused.to_string().contains("another program is writing"), "{call}: {refused}");
    }
    database.host().execute_batch("COMMIT").unwrap();
    assert_eq!(contents(&database.path()), before);
    run_call("revoke key", &impatient, &key).await.unwrap();
}

/// The call is dropped, as when a client disconnects: the change is made completely or not at all.
#[tokio::test]
async fn dropped_change_is_atomic() {
    let (database, account) = with_account().await;
    let (storage, host) = (&database.storage, database.host());
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
        sleep(Duration::from_millis(1)).await;
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

//! A storage that fails or panics while it reads by key.

use catalogue_core::storage::{Actor, KeyStorage, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};

use super::pair::Call::{Credential as Key, ListByKey};
use super::pair::{Fault, LISTS, Pair};
use crate::app::OWNER;

async fn revoke(pair: &Pair) {
    let owner = AccountId::new(OWNER);
    pair.app.storage.revoke_key(&owner, &pair.key, Timestamp::now(), &Actor::OWNER).await.unwrap().unwrap();
}

/// The token is looked up by itself, and only who holds it is told of the fault.
#[tokio::test]
async fn a_read_that_fails_or_panics_is_a_500_once_the_token_is_known() {
    for fault in [Fault::Fails(StorageErrorKind::Corrupt), Fault::Panics] {
        let pair = Pair::known().await;
        *pair.remote.fault.lock().unwrap() = Some(fault);
        pair.get_alone(LISTS).await.failure(500, "internal_error");
        assert_eq!(pair.remote.take(), [ListByKey, Key], "{fault:?}");
        assert_eq!(pair.told().1.unwrap().0, OWNER, "{fault:?}");
        revoke(&pair).await;
        pair.asks(LISTS, 401, &[ListByKey, Key]).await;
    }
}

/// One read waits for it, and not a second one for the token, which was in it.
#[tokio::test]
async fn a_storage_that_is_away_is_asked_once() {
    let pair = Pair::known().await;
    *pair.remote.fault.lock().unwrap() = Some(Fault::Fails(StorageErrorKind::Unavailable));
    for _ in 0..2 {
        pair.get_alone(LISTS).await.failure(500, "internal_error");
        assert_eq!(pair.remote.take(), [ListByKey]);
        assert_eq!(pair.told(), (500, None));
    }
    revoke(&pair).await;
    pair.get_alone(LISTS).await.failure(500, "internal_error");
    *pair.remote.fault.lock().unwrap() = None;
    pair.told();
    assert_eq!(pair.get(LISTS).await.status, 401);
}

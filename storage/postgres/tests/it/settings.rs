//! Keys, links and sessions of the developer settings, with several servers on one database.

use std::time::Duration;

use catalogue_core::admin::NewCredential;
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{Actor, KeyStorage, MAX_SESSIONS, SignInStorage, StorageErrorKind};
use futures_util::future::join_all;

use crate::import_one_course;
use crate::schema::Schema;

pub(crate) use catalogue_storage_tests::database::{at, digest, link, session};

const DAY: i64 = 24 * 60 * 60;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_share_sessions_and_their_limit() {
    let Some(schema) = Schema::new().await else { return };
    let servers = [schema.storage().await, schema.storage().await];
    let account = import_one_course(&servers[0]).await;
    for number in 0..20 {
        servers[0].create_link(&link("acc", number, 0), &Actor::OPERATOR).await.unwrap();
    }
    let exchanging = (0..20).map(|number| {
        let (storage, session) = (servers[usize::from(number) % 2].clone(), session(number + 100, number.into()));
        tokio::spawn(async move { storage.exchange_link(&digest(number), at(0), &session).await.unwrap() })
    });
    assert!(join_all(exchanging).await.into_iter().all(|exchanged| exchanged.unwrap().is_some()));
    let live = join_all((100..120).map(|number| {
        let storage = &servers[0];
        async move { storage.find_session(&digest(number)).await.unwrap().is_some() }
    }));
    let live: Vec<_> = live.await;
    assert_eq!(live.iter().filter(|live| **live).count(), MAX_SESSIONS, "{live:?}");
    assert!(live[10..].iter().all(|live| *live), "the newest stay: {live:?}");
    // Either server finds and ends the sessions of the other.
    let [one, other] = &servers;
    let [last, earlier] = [119, 118].map(digest);
    assert_eq!(other.find_session(&last).await.unwrap().unwrap().account.id, account);
    one.end_session(&last).await.unwrap();
    assert_eq!(other.find_session(&last).await.unwrap(), None);
    assert!(other.find_session(&earlier).await.unwrap().is_some());
    assert_eq!(one.end_sign_ins(&account, &Actor::OPERATOR).await.unwrap(), MAX_SESSIONS as u64 - 1);
    assert_eq!(other.find_session(&earlier).await.unwrap(), None);
}

#[tokio::test]
async fn creating_links_purges_expired_rows_in_batches() {
    let Some((schema, storage, _)) = Schema::with_course().await else { return };
    let host = schema.host().await;
    let others = "INSERT INTO accounts (id) VALUES ('other'); \
                  INSERT INTO sign_ins (digest, account_id, kind, created_at, expires_at) \
                  SELECT sha256(CAST(CAST(n AS TEXT) AS BYTEA)), 'other', 'session', 0, 0 \
                  FROM generate_series(1, 150) AS n";
    host.batch_execute(others).await.unwrap();
    for (number, now, left) in [(1, DAY - 1, 150), (2, DAY, 50), (3, DAY, 0)] {
        storage.create_link(&link("acc", number, now), &Actor::OPERATOR).await.unwrap();
        let count = "SELECT count(*) FROM sign_ins WHERE account_id = 'other'";
        assert_eq!(host.query_one(count, &[]).await.unwrap().get::<_, i64>(0), left, "{number}");
    }
}

#[tokio::test]
async fn purge_skips_rows_locked_by_other_servers() {
    let Some((schema, storage, _)) = Schema::with_course().await else { return };
    storage.create_link(&link("acc", 1, 0), &Actor::OPERATOR).await.unwrap();
    let mut host = schema.host().await;
    host.batch_execute("INSERT INTO accounts (id) VALUES ('other')").await.unwrap();
    let transaction = host.transaction().await.unwrap();
    transaction.execute("SELECT digest FROM sign_ins FOR UPDATE", &[]).await.unwrap();
    storage.create_link(&link("other", 2, 2 * DAY), &Actor::OPERATOR).await.unwrap();
    // Use a timeout of zero, so that any wait fails.
    let without_wait = storage.write_timeout(Duration::ZERO);
    let own = without_wait.create_link(&link("acc", 3, 0), &Actor::OPERATOR).await.unwrap_err();
    assert_eq!(own.kind(), StorageErrorKind::Busy, "{own}");
}

#[tokio::test]
async fn write_timeout_bounds_wait_for_locked_rows() {
    let Some((schema, storage, account)) = Schema::with_course().await else { return };
    let (_, key) = NewCredential::api_key(account.clone(), "a key", Scopes::default());
    storage.create_key(&key, &Actor::OWNER).await.unwrap();
    let id = &*key.record.identity.credential_id;
    let mut host = schema.host().await;
    let transaction = host.transaction().await.unwrap();
    transaction.execute("UPDATE credentials SET last_used_at = 0", &[]).await.unwrap();
    let long_wait = storage.clone().write_timeout(Duration::from_secs(60));
    let waiting = long_wait.revoke_key(&account, id, at(1), &Actor::OPERATOR);
    let short_wait = async {
        let storage = storage.clone().write_timeout(Duration::from_millis(100));
        let refused = storage.revoke_key(&account, id, at(2), &Actor::OWNER).await.unwrap_err();
        assert_eq!(refused.kind(), StorageErrorKind::Busy, "{refused}");
        transaction.rollback().await.unwrap();
    };
    let (revoked, ()) = tokio::join!(waiting, short_wait);
    assert_eq!(revoked.unwrap().unwrap().revoked_at, Some(at(1)));
    let events = storage.list_events(&account, 100).await.unwrap();
    let actions: Vec<_> = events.iter().rev().map(|event| event.action.name()).collect();
    assert_eq!(actions, ["key_created", "key_revoked"]);
}

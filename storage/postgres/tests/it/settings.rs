//! Keys, links and sessions of the developer settings, with several servers on one database.

use std::time::Duration;

use catalogue_core::admin::{Account, AdminStorage, NewCredential};
use catalogue_core::auth::{Scopes, TokenDigest};
use catalogue_core::storage::{
    Actor, CredentialAction, KeyStorage, MAX_SESSIONS, NewSession, NewSignIn, SignInStorage, StorageErrorKind,
};
use catalogue_core::{AccountId, Timestamp};
use catalogue_postgres::PostgresStorage;
use futures_util::future::join_all;

use crate::import_one_course;
use crate::schema::Schema;

const DAY: i64 = 24 * 60 * 60;

pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_microseconds(second * 1_000_000).unwrap()
}

pub(crate) fn digest(number: u8) -> TokenDigest {
    TokenDigest::from_bytes([number; 32])
}

pub(crate) fn link(account: &str, number: u8, now: i64) -> NewSignIn {
    NewSignIn { digest: digest(number), account: account.into(), created_at: at(now), expires_at: at(now + 10) }
}

/// Returns a session of ten seconds.
pub(crate) fn session(number: u8, now: i64) -> NewSession {
    NewSession { digest: digest(number), created_at: at(now), expires_at: at(now + 10) }
}

async fn actions(storage: &PostgresStorage, account: &AccountId) -> Vec<&'static str> {
    let events = storage.list_events(account, 100).await.unwrap();
    events.iter().rev().map(|event| event.action.name()).collect()
}

/// Creates a link and exchanges it for a session, whose digest is `number + 100`.
async fn sign_in(storage: &PostgresStorage, account: &str, number: u8, now: i64) {
    storage.create_link(&link(account, number, now), &Actor::OPERATOR).await.unwrap();
    let begun = storage.exchange_link(&digest(number), at(now), &session(number + 100, now)).await.unwrap();
    assert_eq!(begun.unwrap().id, account.into());
}

#[tokio::test]
async fn servers_share_sessions_and_sign_outs() {
    let Some(schema) = Schema::new().await else { return };
    let (one, other) = (schema.storage().await, schema.storage().await);
    let account = import_one_course(&one).await;
    sign_in(&one, "acc", 1, 0).await;
    let found = other.find_session(&digest(101)).await.unwrap().unwrap();
    assert_eq!((found.account.id.clone(), found.expires_at), (account.clone(), at(10)));
    other.end_session(&digest(101)).await.unwrap();
    assert_eq!(one.find_session(&digest(101)).await.unwrap(), None);
    sign_in(&other, "acc", 2, 0).await;
    assert_eq!(one.end_sign_ins(&account, &Actor::OPERATOR).await.unwrap(), 1);
    assert_eq!(other.find_session(&digest(102)).await.unwrap(), None);
    let expected = ["link_made", "signed_in", "signed_out", "link_made", "signed_in", "signed_out"];
    assert_eq!(actions(&one, &account).await, expected);
    // Calls that end nothing record no event.
    other.end_session(&digest(101)).await.unwrap();
    assert_eq!(other.end_sign_ins(&account, &Actor::OPERATOR).await.unwrap(), 0);
    assert_eq!(actions(&other, &account).await.len(), 6);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn link_is_exchanged_once_by_concurrent_servers() {
    let Some(schema) = Schema::new().await else { return };
    let servers = [schema.storage().await, schema.storage().await];
    let account = import_one_course(&servers[0]).await;
    for round in 1..=5 {
        servers[0].create_link(&link("acc", round, 0), &Actor::OPERATOR).await.unwrap();
        let exchanging = (0..6).map(|number| {
            let (storage, session) = (servers[usize::from(number) % 2].clone(), session(round * 10 + number, 0));
            tokio::spawn(async move { storage.exchange_link(&digest(round), at(0), &session).await.unwrap() })
        });
        let exchanged = join_all(exchanging).await.into_iter().filter_map(Result::unwrap).count();
        assert_eq!(exchanged, 1);
    }
    assert_eq!(servers[0].end_sign_ins(&account, &Actor::OPERATOR).await.unwrap(), 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_sign_ins_respect_session_limit() {
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
    assert_eq!(servers[0].end_sign_ins(&account, &Actor::OPERATOR).await.unwrap(), MAX_SESSIONS as u64);
}

#[tokio::test]
async fn creating_links_purges_expired_rows_in_batches() {
    let Some(schema) = Schema::new().await else { return };
    let storage = schema.storage().await;
    import_one_course(&storage).await;
    let host = schema.host().await;
    let others = "INSERT INTO accounts (id) VALUES ('other'); \
                  INSERT INTO sign_ins (digest, account_id, kind, created_at, expires_at) \
                  SELECT sha256(CAST(CAST(n AS TEXT) AS BYTEA)), 'other', 'session', 0, 0 \
                  FROM generate_series(1, 150) AS n";
    host.batch_execute(others).await.unwrap();
    let left = async |account: &str| {
        let count = "SELECT count(*) FROM sign_ins WHERE account_id = $1";
        host.query_one(count, &[&account]).await.unwrap().get::<_, i64>(0)
    };
    storage.create_link(&link("acc", 1, 0), &Actor::OPERATOR).await.unwrap();
    storage.create_link(&link("acc", 2, 9), &Actor::OPERATOR).await.unwrap();
    assert_eq!(left("acc").await, 2);
    storage.create_link(&link("acc", 3, 10), &Actor::OPERATOR).await.unwrap();
    assert_eq!((left("acc").await, left("other").await), (2, 150), "the first had expired");
    for (number, expected) in [(4, 150), (5, 50), (6, 0)] {
        let now = DAY - i64::from(number == 4);
        storage.create_link(&link("acc", number, now), &Actor::OPERATOR).await.unwrap();
        assert_eq!(left("other").await, expected);
    }
}

#[tokio::test]
async fn purge_skips_rows_locked_by_other_servers() {
    let Some(schema) = Schema::new().await else { return };
    let storage = schema.storage().await;
    import_one_course(&storage).await;
    sign_in(&storage, "acc", 1, 0).await;
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
async fn nul_is_preserved_in_texts_and_never_matches_ids() {
    let Some(schema) = Schema::new().await else { return };
    let storage = schema.storage().await;
    let account = import_one_course(&storage).await;
    let by = Actor::owner_named("a\0b");
    let (_, key) = NewCredential::api_key(account.clone(), "n\0", Scopes::default());
    storage.create_key(&key, &by).await.unwrap();
    let id = &*key.record.identity.credential_id;
    for _ in 0..2 {
        let renamed = storage.rename_key(&account, id, "\0\u{fffe}", &by).await.unwrap().unwrap();
        assert_eq!(renamed.name.as_deref(), Some("\0\u{fffe}"));
    }
    let events = storage.list_events(&account, 10).await.unwrap();
    let logged: Vec<_> = events.iter().map(|event| (event.action, event.name.as_deref().unwrap())).collect();
    assert_eq!(logged, [(CredentialAction::KeyRenamed, "\0\u{fffe}"), (CredentialAction::KeyCreated, "n\0")]);
    assert!(events.iter().all(|event| event.actor == by));

    let unknown = AccountId::new("acc\0");
    assert_eq!(storage.list_keys(&unknown, Timestamp::MAX, usize::MAX).await.unwrap(), None);
    assert_eq!(storage.list_events(&unknown, 1).await.unwrap(), []);
    for (account, id) in [(&unknown, id), (&account, "a\0")] {
        assert_eq!(storage.rename_key(account, id, "n", &by).await.unwrap(), None);
        assert_eq!(storage.revoke_key(account, id, at(1), &by).await.unwrap(), None);
        let (_, successor) = NewCredential::api_key(account.clone(), "s", Scopes::default());
        assert_eq!(storage.rotate_key(account, id, at(1), &successor, &by).await.unwrap(), None);
    }
    let (_, key) = NewCredential::api_key(unknown.clone(), "n", Scopes::default());
    let refused = storage.create_key(&key, &by).await.unwrap_err();
    assert_eq!(refused.kind(), StorageErrorKind::UnknownReference);
    let refused = storage.create_link(&link("acc\0", 1, 0), &by).await.unwrap_err();
    assert_eq!(refused.kind(), StorageErrorKind::UnknownReference);
    assert_eq!(storage.end_sign_ins(&unknown, &by).await.unwrap(), 0);
}

#[tokio::test]
async fn write_timeout_bounds_wait_for_locked_rows() {
    let Some(schema) = Schema::new().await else { return };
    let storage = schema.storage().await;
    let account = import_one_course(&storage).await;
    let (_, key) = NewCredential::api_key(account.clone(), "a key", Scopes::default());
    storage.create_key(&key, &Actor::OWNER).await.unwrap();
    let id = &*key.record.identity.credential_id;
    let mut host = schema.host().await;
    let transaction = host.transaction().await.unwrap();
    transaction.execute("UPDATE credentials SET last_used_at = 0", &[]).await.unwrap();
    let long_wait = storage.clone().write_timeout(Duration::from_secs(60));
    let waiting = long_wait.revoke_key(&account, id, at(1), &Actor::OPERATOR);
    let short_wait = async {
        let refused = storage.revoke_key(&account, id, at(2), &Actor::OWNER).await.unwrap_err();
        assert_eq!(refused.kind(), StorageErrorKind::Busy, "{refused}");
        transaction.rollback().await.unwrap();
    };
    let (revoked, ()) = tokio::join!(waiting, short_wait);
    assert_eq!(revoked.unwrap().unwrap().revoked_at, Some(at(1)));
    assert_eq!(actions(&storage, &account).await, ["key_created", "key_revoked"]);
}

#[tokio::test]
async fn removing_account_removes_events_and_sign_ins() {
    let Some(schema) = Schema::new().await else { return };
    let storage = schema.storage().await;
    let account = import_one_course(&storage).await;
    sign_in(&storage, "acc", 1, 0).await;
    assert!(storage.remove_account(&account).await.unwrap().is_some());
    assert_eq!(storage.find_session(&digest(101)).await.unwrap(), None);
    let mut import = storage.begin_import().await.unwrap();
    let again = Account { id: account.clone(), name: String::new(), email: String::new() };
    import.put_account(&again).await.unwrap();
    import.commit().await.unwrap();
    assert_eq!(storage.list_events(&account, 10).await.unwrap(), []);
}

#[tokio::test]
async fn events_cannot_be_changed_in_sql() {
    let Some(schema) = Schema::new().await else { return };
    let storage = schema.storage().await;
    import_one_course(&storage).await;
    storage.create_link(&link("acc", 1, 0), &Actor::OPERATOR).await.unwrap();
    let host = schema.host().await;
    // Try the setting with which the catalogue's writers disable triggers, and a search path with `pg_catalog` last.
    let trap = format!("SET catalogue.writer = 'self'; SET search_path = {}, pg_catalog", schema.name());
    host.batch_execute(&trap).await.unwrap();
    let refused = host.batch_execute("UPDATE credential_events SET actor = 'other'").await.unwrap_err();
    assert!(refused.as_db_error().unwrap().message().contains("events stay as they are"), "{refused:?}");
}

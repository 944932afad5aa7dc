//! A database that an older version has made keeps its data.

use catalogue_core::admin::{AdminStorage, CredentialUse};
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::{Actor, CourseStorage, CredentialStorage, KeyStorage, SignInStorage};
use catalogue_core::{AccountId, Timestamp};
use catalogue_postgres::{OpenError, PostgresStorage};
use tokio_postgres::types::Type;

use crate::import_one_course;
use crate::schema::Schema;
use crate::settings::link;
use crate::statements;

/// What version 1 was released as.
pub(crate) const VERSION_1: [&str; 2] =
    [include_str!("../../migrations/0001_initial.sql"), include_str!("../../migrations/0001_triggers.sql")];

/// What makes version 3 of version 1.
pub(crate) const VERSION_3: [&str; 3] = [
    include_str!("../../migrations/0002_last_use.sql"),
    include_str!("../../migrations/0003_successors.sql"),
    "UPDATE catalogue_schema SET version = 3",
];

/// What makes version 4 of that.
const VERSION_4: [&str; 2] =
    [include_str!("../../migrations/0004_trigger_search_path.sql"), "UPDATE catalogue_schema SET version = 4"];

/// What makes version 5 of that.
const VERSION_5: [&str; 3] = [
    include_str!("../../migrations/0005_settings.sql"),
    include_str!("../../migrations/0005_settings_triggers.sql"),
    "UPDATE catalogue_schema SET version = 5",
];

/// A session and an event of that account.
const SIGNED_IN: &str = "
    INSERT INTO sign_ins VALUES (decode(repeat('ab', 32), 'hex'), 'old', 'session', 1, 9);
    INSERT INTO credential_events VALUES ('old', 'evt_1', 3, 'key_created', 'owner', 'key_1', 'n');
";

/// An account with a course and a key, in a schema of version 1.
pub(crate) const CONTENT: &str = "
    CREATE TABLE catalogue_schema (id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1), version BIGINT NOT NULL);
    INSERT INTO catalogue_schema (id, version) VALUES (1, 1);
    INSERT INTO accounts (id, name) VALUES ('old', 'Name');
    INSERT INTO courses (account_id, created_at, slug, title, language) VALUES ('old', 5, 'old', 'Old', 'en');
    INSERT INTO credentials (digest, account_id, id, kind, name, shown_prefix, scopes, created_at, expires_at)
    VALUES (decode(repeat('ab', 32), 'hex'), 'old', 'key_1', 'api-key', 'n', 'ccat_abc', 'read:courses', 7, 9);
";

#[tokio::test]
async fn version_1_is_brought_up_to_date_with_its_data() {
    let Some(schema) = Schema::new().await else { return };
    let host = schema.host().await;
    for sql in VERSION_1.into_iter().chain([CONTENT]) {
        host.batch_execute(sql).await.unwrap();
    }
    let options = schema.options();
    let refused = PostgresStorage::open(&options).await.unwrap_err();
    assert!(matches!(refused, OpenError::OlderSchema { found: 1, known: 7 }), "{refused}");
    let migrated = PostgresStorage::migrate(&options).await.unwrap();
    assert_eq!((migrated.from, migrated.to), (1, 7));

    let storage = PostgresStorage::open(&options).await.unwrap();
    let account = AccountId::new("old");
    assert!(storage.find_course(&account, "old").await.unwrap().value.is_some());
    let before = storage.revision(&account).await.unwrap();
    let at = Timestamp::from_microseconds(11).unwrap();
    let used = CredentialUse { account: account.clone(), credential_id: "key_1".into(), at };
    storage.note_uses(&[used]).await.unwrap();
    let listed = storage.list_keys(&account).await.unwrap().unwrap();
    assert_eq!((listed.len(), listed[0].last_used_at, listed[0].name.as_deref()), (1, Some(at), Some("n")));
    assert_eq!(storage.revision(&account).await.unwrap(), before);
    import_one_course(&storage).await;
}

/// What [`VERSION_3`] begins with as it was released first. Citus takes no such statement.
const FIRST_VERSION_2: &str = "
    ALTER TABLE credentials
        ADD COLUMN last_used_at BIGINT CHECK (last_used_at BETWEEN -62167219200000000 AND 253402300799999999);
";

/// What version 4 asks when an account is removed.
const REMOVAL_OF_VERSION_4: &str = "
    DELETE FROM credentials WHERE account_id = 'old';
    DELETE FROM accounts WHERE id = 'old';
";

#[tokio::test]
async fn version_4_goes_on_while_its_data_is_brought_up_to_date() {
    let Some(schema) = Schema::new().await else { return };
    let host = schema.host().await;
    for sql in VERSION_1.into_iter().chain([CONTENT]).chain(VERSION_3).chain(VERSION_4) {
        host.batch_execute(sql).await.unwrap();
    }
    // What a server of that version has prepared and asks again and again.
    let mut asked = Vec::new();
    for sql in statements::of_source("read.rs").into_iter().filter(|sql| sql.name != "IS_REVOKED") {
        asked.push(host.prepare(&sql.text).await.unwrap());
    }
    let digest = [0xab_u8; 32];
    let find = async || {
        let sql = asked.iter().find(|sql| sql.params() == [Type::BYTEA]).unwrap();
        host.query(sql, &[&digest.as_slice()]).await.unwrap().len()
    };
    assert_eq!(find().await, 1);
    let options = schema.options();
    let refused = PostgresStorage::open(&options).await.unwrap_err();
    assert!(matches!(refused, OpenError::OlderSchema { found: 4, known: 7 }), "{refused}");
    let migrated = PostgresStorage::migrate(&options).await.unwrap();
    assert_eq!((migrated.from, migrated.to), (4, 7));
    assert_eq!(find().await, 1);
    let create = "INSERT INTO credentials (digest, account_id, id, kind, scopes, created_at) \
                  VALUES (decode(repeat('cd', 32), 'hex'), 'old', 'key_2', 'api-key', '', 8)";
    host.batch_execute(create).await.unwrap();

    let storage = PostgresStorage::open(&options).await.unwrap();
    let account = AccountId::new("old");
    assert!(storage.find_course(&account, "old").await.unwrap().value.is_some());
    let keys = storage.list_keys(&account).await.unwrap().unwrap();
    let ids: Vec<_> = keys.iter().map(|key| &*key.identity.credential_id).collect();
    assert_eq!(ids, ["key_1", "key_2"]);
    assert_eq!(storage.list_events(&account, 10).await.unwrap(), []);
    let renamed = storage.rename_key(&account, "key_1", "new", &Actor::OWNER).await.unwrap().unwrap();
    assert_eq!(renamed.name.as_deref(), Some("new"));
    storage.create_link(&link("old", 1, 0), &Actor::OPERATOR).await.unwrap();
    assert_eq!(storage.list_events(&account, 10).await.unwrap().len(), 2);
    // It knows nothing of events and links.
    host.batch_execute(REMOVAL_OF_VERSION_4).await.unwrap();
    let left = "SELECT (SELECT count(*) FROM credential_events) + (SELECT count(*) FROM sign_ins)";
    assert_eq!(host.query_one(left, &[]).await.unwrap().get::<_, i64>(0), 0);
}

#[tokio::test]
async fn version_5_is_brought_up_to_date_with_its_data() {
    let Some(schema) = Schema::new().await else { return };
    let host = schema.host().await;
    let before = VERSION_1.into_iter().chain([CONTENT]).chain(VERSION_3).chain(VERSION_4);
    for sql in before.chain(VERSION_5).chain([SIGNED_IN]) {
        host.batch_execute(sql).await.unwrap();
    }
    let migrated = PostgresStorage::migrate(&schema.options()).await.unwrap();
    assert_eq!((migrated.from, migrated.to), (5, 7));

    let storage = PostgresStorage::open(&schema.options()).await.unwrap();
    let (account, digest) = (AccountId::new("old"), TokenDigest::from_bytes([0xab; 32]));
    assert!(storage.find_credential(&digest).await.unwrap().is_some());
    assert_eq!(storage.find_session(&digest).await.unwrap().unwrap().account.id, account);
    assert_eq!(storage.list_events(&account, 9).await.unwrap().len(), 1);
    assert_eq!(storage.is_revoked(&digest).await.unwrap(), Some(false));
    storage.revoke_tokens(&[digest], Timestamp::MAX, Timestamp::MIN).await.unwrap();
    // A server of version 5 knows nothing of revoked tokens.
    host.batch_execute(REMOVAL_OF_VERSION_4).await.unwrap();
    assert_eq!(storage.is_revoked(&digest).await.unwrap(), Some(true));
}

#[tokio::test]
async fn version_2_is_the_same_as_it_was_released_first() {
    let mut made = Vec::new();
    for version_2 in [FIRST_VERSION_2, VERSION_3[0]] {
        let Some(schema) = Schema::new().await else { return };
        let host = schema.host().await;
        host.batch_execute(VERSION_1[0]).await.unwrap();
        host.batch_execute(version_2).await.unwrap();
        let columns = "SELECT format('%s %s %s %s', attnum, attname, atttypid, attnotnull) FROM pg_attribute \
                       WHERE attrelid = CAST('credentials' AS regclass) AND attnum > 0 UNION ALL \
                       SELECT format('%s %s %s', conname, convalidated, pg_get_constraintdef(oid)) FROM pg_constraint \
                       WHERE conrelid = CAST('credentials' AS regclass) ORDER BY 1";
        let rows = host.query(columns, &[]).await.unwrap();
        made.push(rows.iter().map(|row| row.get::<_, String>(0)).collect::<Vec<_>>());
    }
    assert!(made[0].iter().any(|row| row.starts_with("credentials_last_used_at_check t CHECK")), "{made:#?}");
    assert_eq!(made[0], made[1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_note_the_same_credentials_keep_the_greatest_times() {
    let Some(schema) = Schema::new().await else { return };
    let storage = schema.storage().await;
    let account = import_one_course(&storage).await;
    let many = "INSERT INTO credentials (digest, account_id, id, kind, scopes, created_at) \
                SELECT sha256(CAST(CAST(n AS TEXT) AS BYTEA)), 'acc', 'key_' || n, 'api-key', '', n \
                FROM generate_series(1, 300) AS n";
    schema.host().await.batch_execute(many).await.unwrap();
    let use_of = |key: usize, at: i64| CredentialUse {
        account: account.clone(),
        credential_id: format!("key_{key}").into(),
        at: Timestamp::from_microseconds(at).unwrap(),
    };
    for round in 1..=5 {
        let forth: Vec<_> = (1..=300).map(|key| use_of(key, round)).collect();
        let back: Vec<_> = (1..=300).rev().map(|key| use_of(key, round + 100)).collect();
        let (one, other) = tokio::join!(storage.note_uses(&forth), storage.note_uses(&back));
        one.and(other).unwrap();
    }
    let listed = storage.list_keys(&account).await.unwrap().unwrap();
    assert!(listed.iter().all(|record| record.last_used_at.unwrap().as_microseconds() == 105));
    assert_eq!(listed.len(), 300);
}

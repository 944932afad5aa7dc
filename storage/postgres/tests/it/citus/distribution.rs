//! Distribution of tables over nodes: empty ones, and those with triggers and data.

use catalogue_core::admin::{AdminStorage, NewCredential};
use catalogue_core::auth::{Scopes, TokenDigest};
use catalogue_core::storage::{Actor, CourseStorage, CredentialStorage, KeyStorage};
use catalogue_core::{AccountId, Timestamp};
use catalogue_postgres::{OpenError, Options, PostgresStorage};

use super::cluster::Citus;
use crate::import_one_course;
use crate::schema::Schema;

/// An account with a course and a key.
const CONTENT: &str = "
    INSERT INTO accounts (id, name) VALUES ('old', 'Name');
    INSERT INTO courses (account_id, created_at, slug, title, language) VALUES ('old', 5, 'old', 'Old', 'en');
    INSERT INTO credentials (digest, account_id, id, kind, name, shown_prefix, scopes, created_at, expires_at)
    VALUES (decode(repeat('ab', 32), 'hex'), 'old', 'key_1', 'api-key', 'n', 'ccat_abc', 'read:courses', 7, 9);
";

/// Query for the connection strings of the cluster's nodes.
const NODES: &str = "SELECT format('host=%s port=%s user=%s dbname=%s', nodename, nodeport, current_user, current_database()) \
                     FROM pg_dist_node";

/// Asserts that the content exists, can be found and changed, and that nothing is left to repair.
async fn assert_whole(storage: &PostgresStorage) {
    let (account, digest) = (AccountId::new("old"), TokenDigest::from_bytes([0xab; 32]));
    assert!(storage.find_course(&account, "old").await.unwrap().value.is_some());
    let found = storage.find_credential(&digest).await.unwrap().unwrap();
    assert_eq!((&found.identity.account, found.revision), (&account, storage.revision(&account).await.unwrap()));
    assert!(storage.find_credential_record("key_1").await.unwrap().is_some());
    storage.revoke_key(&account, "key_1", Timestamp::MAX, &Actor::OPERATOR).await.unwrap().unwrap();
    assert!(storage.find_credential(&digest).await.unwrap().unwrap().revoked_at.is_some());
    import_one_course(storage).await;
    assert_eq!(storage.status().await.unwrap().problems, Vec::<String>::new());
}

#[tokio::test]
async fn tables_with_triggers_and_data_are_distributed() {
    let Some(citus) = Citus::new().await else { return };
    let plain = Options::parse(&citus.address()).unwrap();
    PostgresStorage::migrate(&plain).await.unwrap();
    citus.host().await.batch_execute(CONTENT).await.unwrap();
    for _ in 0..2 {
        let migrated = PostgresStorage::migrate(&citus.options()).await.unwrap();
        assert_eq!((migrated.from, migrated.to), (1, 1));
    }
    assert_whole(&PostgresStorage::open(&plain).await.unwrap()).await;
}

#[tokio::test]
async fn undistributed_tables_are_reported_and_migrated() {
    let Some(citus) = Citus::new().await else { return };
    let plain = Options::parse(&citus.address()).unwrap();
    let storage = PostgresStorage::open_and_migrate(&plain).await.unwrap();
    import_one_course(&storage).await;
    let problems = storage.status().await.unwrap().problems;
    assert!(problems[0].contains(": accounts, catalogue_schema_version, courses, "), "{problems:?}");
    assert!(problems[0].contains("catalogue migrate --citus"), "{problems:?}");
    let storage = citus.storage().await;
    assert_eq!(storage.status().await.unwrap().problems, Vec::<String>::new());
    assert!(storage.find_course(&AccountId::new("acc"), "course").await.unwrap().value.is_some());
    // A dump of another cluster may leave a table undistributed.
    citus.host().await.batch_execute("SELECT undistribute_table('revoked_tokens')").await.unwrap();
    let problems = storage.status().await.unwrap().problems;
    assert!(problems.len() == 1 && problems[0].contains(": revoked_tokens;"), "{problems:?}");
    let storage = citus.storage().await;
    assert_eq!(storage.status().await.unwrap().problems, Vec::<String>::new());
}

#[tokio::test]
async fn every_node_serves_reads_and_writes() {
    let Some(citus) = Citus::new().await else { return };
    let (coordinator, host) = (citus.storage().await, citus.host().await);
    let account = import_one_course(&coordinator).await;
    let nodes = host.query(&format!("{NODES} WHERE isactive"), &[]).await.unwrap();
    assert!(nodes.len() > 1, "{nodes:?}");
    for node in nodes {
        let address = format!("{} options='-c search_path={}'", node.get::<_, &str>(0), citus.name);
        let storage = PostgresStorage::open(&Options::parse(&address).unwrap()).await.unwrap();
        assert!(storage.find_course(&account, "course").await.unwrap().value.is_some());
        let (_, key) = NewCredential::api_key(account.clone(), "a key", Scopes::default());
        storage.create_key(&key, &Actor::OPERATOR).await.unwrap();
        assert!(coordinator.find_credential(&key.digest).await.unwrap().is_some());
        import_one_course(&storage).await;
        assert_eq!(storage.status().await.unwrap().problems, Vec::<String>::new());
        let id = &key.record.identity.credential_id;
        coordinator.revoke_key(&account, id, Timestamp::MAX, &Actor::OPERATOR).await.unwrap().unwrap();
        assert!(storage.find_credential(&key.digest).await.unwrap().unwrap().revoked_at.is_some());
    }
}

#[tokio::test]
async fn migration_over_worker_is_refused() {
    let Some(citus) = Citus::new().await else { return };
    let worker = format!("{NODES} WHERE groupid > 0 LIMIT 1");
    let worker = citus.host().await.query_one(&worker, &[]).await.unwrap();
    let address = format!("{} options='-c search_path={}'", worker.get::<_, &str>(0), citus.name);
    let refused = PostgresStorage::migrate(&Options::parse(&address).unwrap().citus()).await.unwrap_err();
    assert!(refused.to_string().contains("not the coordinator"), "{refused}");
}

#[tokio::test]
async fn database_without_citus_is_refused_unchanged() {
    let Some(schema) = Schema::new().await else { return };
    let refused = PostgresStorage::migrate(&schema.options().citus()).await.unwrap_err();
    assert!(refused.to_string().contains("lacks the extension citus"), "{refused}");
    let refused = PostgresStorage::open(&schema.options()).await.unwrap_err();
    assert!(matches!(refused, OpenError::OlderSchema { found: 0, .. }), "{refused}");
    let storage = schema.storage().await;
    let account = import_one_course(&storage).await;
    let (_, key) = NewCredential::api_key(account, "a key", Scopes::default());
    storage.create_key(&key, &Actor::OPERATOR).await.unwrap();
    assert_eq!(storage.status().await.unwrap().problems, Vec::<String>::new());
}

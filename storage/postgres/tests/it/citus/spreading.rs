//! What is spread: empty tables, those of older versions, with triggers, and spread in another way.

use catalogue_core::admin::{AdminStorage, NewCredential};
use catalogue_core::auth::{Scopes, TokenDigest};
use catalogue_core::storage::{Actor, CourseStorage, CredentialStorage, KeyStorage};
use catalogue_core::{AccountId, Timestamp};
use catalogue_postgres::{OpenError, Options, PostgresStorage};

use super::cluster::Citus;
use crate::import_one_course;
use crate::migrating::{CONTENT, VERSION_1};
use crate::schema::Schema;

/// As tables were spread before there was an option for it.
const ONCE: &str = "
    SELECT create_reference_table('catalogue_schema');
    SELECT create_reference_table('accounts');
    SELECT create_reference_table('credentials');
    SELECT create_distributed_table('courses', 'account_id');
    SELECT create_distributed_table('modules', 'account_id', colocate_with => 'courses');
    SELECT create_distributed_table('module_contents', 'account_id', colocate_with => 'courses');
";

/// The content of version 1 is there, can be found and changed, and nothing is left to mend.
async fn assert_whole(storage: &PostgresStorage) {
    let (account, digest) = (AccountId::new("old"), TokenDigest::from_bytes([0xab; 32]));
    assert!(storage.find_course(&account, "old").await.unwrap().value.is_some());
    let found = storage.find_credential(&digest).await.unwrap().unwrap();
    assert_eq!((&found.identity.account, found.revision), (&account, storage.revision(&account).await.unwrap()));
    assert!(storage.find_credential_record("key_1").await.unwrap().is_some());
    storage.revoke_key(&account, "key_1", Timestamp::MAX, &Actor::OPERATOR).await.unwrap().unwrap();
    assert!(storage.find_credential(&digest).await.unwrap().unwrap().revoked_at.is_some());
    import_one_course(storage).await;
    assert_eq!(storage.status().await.unwrap().faults, Vec::<String>::new());
}

#[tokio::test]
async fn version_1_with_triggers_and_data_is_spread() {
    let Some(citus) = Citus::new().await else { return };
    for sql in VERSION_1.into_iter().chain([CONTENT]) {
        citus.host().await.batch_execute(sql).await.unwrap();
    }
    let migrated = PostgresStorage::migrate(&citus.options()).await.unwrap();
    assert_eq!((migrated.from, migrated.to), (1, 7));
    assert_whole(&PostgresStorage::open(&Options::parse(&citus.address()).unwrap()).await.unwrap()).await;
    let again = PostgresStorage::migrate(&citus.options()).await.unwrap();
    assert_eq!((again.from, again.to), (7, 7));
}

#[tokio::test]
async fn version_1_that_was_spread_in_another_way_is_spread_anew() {
    let Some(citus) = Citus::new().await else { return };
    for sql in [VERSION_1[0], CONTENT, ONCE] {
        citus.host().await.batch_execute(sql).await.unwrap();
    }
    let migrated = PostgresStorage::migrate(&citus.options()).await.unwrap();
    assert_eq!((migrated.from, migrated.to), (1, 7));
    assert_whole(&PostgresStorage::open(&Options::parse(&citus.address()).unwrap()).await.unwrap()).await;
}

#[tokio::test]
async fn what_is_not_spread_is_told_and_mended() {
    let Some(citus) = Citus::new().await else { return };
    let plain = Options::parse(&citus.address()).unwrap();
    let storage = PostgresStorage::open_and_migrate(&plain).await.unwrap();
    import_one_course(&storage).await;
    let faults = storage.status().await.unwrap().faults;
    assert!(faults[0].contains(": accounts, catalogue_schema, courses, "), "{faults:?}");
    assert!(faults[0].contains("catalogue migrate --citus"), "{faults:?}");
    assert!(faults[1].contains("courses_deleted"), "{faults:?}");
    let storage = citus.storage().await;
    assert_eq!(storage.status().await.unwrap().faults, Vec::<String>::new());
    assert!(storage.find_course(&AccountId::new("acc"), "course").await.unwrap().value.is_some());
    // As a dump of another cluster has it.
    citus.host().await.batch_execute("SELECT undistribute_table('revoked_tokens')").await.unwrap();
    let faults = storage.status().await.unwrap().faults;
    assert!(faults.len() == 1 && faults[0].contains(": revoked_tokens;"), "{faults:?}");
    let storage = citus.storage().await;
    assert_eq!(storage.status().await.unwrap().faults, Vec::<String>::new());
}

#[tokio::test]
async fn each_node_is_asked_and_told_alike() {
    let Some(citus) = Citus::new().await else { return };
    let (coordinator, host) = (citus.storage().await, citus.host().await);
    let account = import_one_course(&coordinator).await;
    let nodes = "SELECT format('host=%s port=%s user=%s dbname=%s', nodename, nodeport, current_user, current_database()) \
                 FROM pg_dist_node WHERE isactive";
    let nodes = host.query(nodes, &[]).await.unwrap();
    assert!(nodes.len() > 1, "{nodes:?}");
    for node in nodes {
        let address = format!("{} options='-c search_path={}'", node.get::<_, &str>(0), citus.name);
        let storage = PostgresStorage::open(&Options::parse(&address).unwrap()).await.unwrap();
        assert!(storage.find_course(&account, "course").await.unwrap().value.is_some());
        let (_, key) = NewCredential::api_key(account.clone(), "a key", Scopes::default());
        storage.create_key(&key, &Actor::OPERATOR).await.unwrap();
        assert!(coordinator.find_credential(&key.digest).await.unwrap().is_some());
        import_one_course(&storage).await;
        assert_eq!(storage.status().await.unwrap().faults, Vec::<String>::new());
        let id = &key.record.identity.credential_id;
        coordinator.revoke_key(&account, id, Timestamp::MAX, &Actor::OPERATOR).await.unwrap().unwrap();
        assert!(storage.find_credential(&key.digest).await.unwrap().unwrap().revoked_at.is_some());
    }
}

#[tokio::test]
async fn a_worker_is_not_asked_to_spread_tables() {
    let Some(citus) = Citus::new().await else { return };
    let worker = "SELECT format('host=%s port=%s user=%s dbname=%s', nodename, nodeport, current_user, current_database()) \
                  FROM pg_dist_node WHERE groupid > 0 LIMIT 1";
    let worker = citus.host().await.query_one(worker, &[]).await.unwrap();
    let address = format!("{} options='-c search_path={}'", worker.get::<_, &str>(0), citus.name);
    let refused = PostgresStorage::migrate(&Options::parse(&address).unwrap().citus()).await.unwrap_err();
    assert!(matches!(refused, OpenError::NoCoordinator), "{refused}");
}

#[tokio::test]
async fn a_database_without_the_extension_is_refused_and_left_as_it_is() {
    let Some(schema) = Schema::new().await else { return };
    let refused = PostgresStorage::migrate(&schema.options().citus()).await.unwrap_err();
    assert!(matches!(refused, OpenError::NoCitus), "{refused}");
    let refused = PostgresStorage::open(&schema.options()).await.unwrap_err();
    assert!(matches!(refused, OpenError::OlderSchema { found: 0, .. }), "{refused}");
    let storage = schema.storage().await;
    let account = import_one_course(&storage).await;
    let (_, key) = NewCredential::api_key(account, "a key", Scopes::default());
    storage.create_key(&key, &Actor::OPERATOR).await.unwrap();
    assert_eq!(storage.status().await.unwrap().faults, Vec::<String>::new());
}

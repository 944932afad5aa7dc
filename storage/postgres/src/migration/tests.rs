//! Tests with a made-up version 2: no migration follows version 1 yet.

use catalogue_postgres_cluster::Cluster;
use tokio_postgres::NoTls;

use super::*;
use crate::PostgresStorage;

const VERSION_2: Migration = Migration {
    tables: "ALTER TABLE accounts ADD COLUMN nickname TEXT NOT NULL DEFAULT 'none'",
    triggers: "CREATE FUNCTION catalogue_second() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    views: "ALTER TABLE sign_ins ADD COLUMN nickname TEXT",
};

/// Query for the columns and functions that [`VERSION_2`] adds.
const ADDED: &str = "
    SELECT CAST(table_name AS TEXT) FROM information_schema.columns
    WHERE table_schema = current_schema() AND column_name = 'nickname'
    UNION ALL SELECT CAST(proname AS TEXT) FROM pg_proc AS p
    WHERE pronamespace = CAST(CAST(current_schema() AS TEXT) AS regnamespace) AND proname = 'catalogue_second'
    ORDER BY 1";

async fn migrate_twice(name: &str, content: &str, expected: &[&str], change: [fn(Options) -> Options; 2]) {
    let Some(cluster) = Cluster::shared() else { return };
    let address = format!("{} options='-c search_path={name}'", cluster.address("postgres"));
    let (host, connection) = tokio_postgres::connect(&address, NoTls).await.unwrap();
    tokio::spawn(connection);
    host.batch_execute(&format!("CREATE SCHEMA {name}")).await.unwrap();
    let options = change.map(|change| change(Options::parse(&address).unwrap().deadline(Duration::from_secs(60))));
    PostgresStorage::migrate(&options[0]).await.unwrap();
    host.batch_execute(content).await.unwrap();

    let migrations = [MIGRATIONS[0], VERSION_2];
    for from in [1, 2] {
        assert_eq!(migrate_by(&migrations, &options[1]).await.unwrap(), Migrated { from, to: 2 }, "{name}");
        let added: Vec<String> = host.query(ADDED, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
        assert_eq!(added, expected, "{name}");
    }
    let query = format!("SELECT nickname FROM {}", expected[0]);
    assert_eq!(host.query(&query, &[]).await.unwrap().len(), 1, "{name}");
    for refused in [PostgresStorage::open(&options[1]).await.map(|_| ()), migrate(&options[1]).await.map(|_| ())] {
        assert!(matches!(refused, Err(OpenError::NewerSchema { found: 2, known: 1 })), "{name}: {refused:?}");
    }
}

/// The first migration determines the use of triggers, whatever the options of the second.
#[tokio::test]
async fn second_migration_applies_once_and_keeps_data() {
    let (same, keys_only): (fn(_) -> _, fn(Options) -> _) = (|it| it, |it| it.views("public").schema("keys"));
    let account = "INSERT INTO accounts (id) VALUES ('acc')";
    migrate_twice("with_triggers", account, &["accounts", "catalogue_second"], [same, Options::without_triggers]).await;
    migrate_twice("plain", account, &["accounts"], [Options::without_triggers, same]).await;
    let sign_in = "INSERT INTO sign_ins VALUES (decode(repeat('ab', 32), 'hex'), 'acc', 'link', 1, 9)";
    migrate_twice("keys", sign_in, &["sign_ins"], [keys_only, keys_only]).await;
}

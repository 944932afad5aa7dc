//! Opening and migrating databases. Each error names the problem and leaves the database unchanged.

use std::error::Error as _;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};

use catalogue_core::Timestamp;
use catalogue_core::admin::AdminStorage;
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::{CourseStorage, CredentialStorage, StorageErrorKind};
use catalogue_postgres::{OpenError, Options, PostgresStorage};

use crate::import_one_course;
use crate::schema::Schema;
use catalogue_postgres_cluster::Cluster;

/// Returns the error of opening with migration. Asserts that its variant is the same without migration.
async fn open_error(options: &Options) -> OpenError {
    let error = PostgresStorage::open_and_migrate(options).await.unwrap_err();
    let opened = PostgresStorage::open(options).await.unwrap_err();
    assert_eq!(std::mem::discriminant(&error), std::mem::discriminant(&opened), "{error} / {opened}");
    error
}

fn kind_of(error: &OpenError) -> Option<StorageErrorKind> {
    let OpenError::Failed(source) = error else { return None };
    Some(source.kind())
}

#[tokio::test]
async fn only_migration_creates_tables() {
    let Some(schema) = Schema::new().await else { return };
    let options = schema.options();
    let error = PostgresStorage::open(&options).await.unwrap_err();
    assert!(matches!(error, OpenError::OlderSchema { found: 0, known: 1 }), "{error}");
    for expected in [(0, 1), (1, 1)] {
        let migrated = PostgresStorage::migrate(&options).await.unwrap();
        assert_eq!((migrated.from, migrated.to), expected);
    }
    PostgresStorage::open(&options).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrently_starting_servers_migrate_once() {
    let Some(schema) = Schema::new().await else { return };
    let options = schema.options();
    let starting: Vec<_> = (0..8)
        .map(|_| {
            let options = options.clone();
            tokio::spawn(async move { PostgresStorage::migrate(&options).await })
        })
        .collect();
    let mut made = 0;
    for started in starting {
        made += usize::from(started.await.unwrap().unwrap().from == 0);
    }
    assert_eq!(made, 1);
    import_one_course(&schema.storage().await).await;
}

#[tokio::test]
async fn tables_of_other_application_are_not_modified() {
    let Some(schema) = Schema::new().await else { return };
    let host = schema.host().await;
    host.batch_execute("CREATE TABLE courses (id BIGINT); INSERT INTO courses VALUES (7)").await.unwrap();
    let error = open_error(&schema.options()).await;
    assert!(matches!(error, OpenError::OtherApplication(_)), "{error}");
    assert_eq!(host.query_one("SELECT id FROM courses", &[]).await.unwrap().get::<_, i64>(0), 7);
    // Tables with other names are accepted.
    host.batch_execute("ALTER TABLE courses RENAME TO orders").await.unwrap();
    import_one_course(&schema.storage().await).await;
}

#[tokio::test]
async fn unreleased_schema_is_refused_for_any_version() {
    let Some(schema) = Schema::new().await else { return };
    schema.storage().await;
    let host = schema.host().await;
    host.batch_execute("ALTER TABLE catalogue_schema_version RENAME TO catalogue_schema").await.unwrap();
    for version in [1, 7] {
        host.execute("UPDATE catalogue_schema SET version = $1", &[&i64::from(version)]).await.unwrap();
        let error = open_error(&schema.options()).await;
        assert!(matches!(&error, OpenError::UnreleasedSchema { beside_views: false, .. }), "{error}");
        let what_to_do = "export the courses with that build, import them into a new database with this one";
        assert!(error.to_string().contains(what_to_do), "{error}");
    }
}

#[tokio::test]
async fn other_encoding_is_refused() {
    let Some(schema) = Schema::new().await else { return };
    let make = "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0";
    schema.host().await.batch_execute(make).await.unwrap();
    let options = Options::parse(&Cluster::shared().unwrap().address("latin")).unwrap();
    let error = open_error(&options).await;
    assert!(matches!(&error, OpenError::Encoding(encoding) if encoding == "LATIN1"), "{error}");
}

/// A function of the schema replaces `version()`, since the search path of the connection string has `pg_catalog` last.
#[tokio::test]
async fn unsupported_engine_is_refused_without_creating_tables() {
    let Some(schema) = Schema::new().await else { return };
    let host = schema.host().await;
    let name = schema.name();
    let options = Schema::options_of(&schema.address().replace(&format!("={name}'"), &format!("={name},pg_catalog'")));
    let other_version = "CREATE FUNCTION version() RETURNS TEXT LANGUAGE SQL AS $$SELECT 'CockroachDB CCL v25.1.0'$$";
    host.batch_execute(other_version).await.unwrap();
    let error = open_error(&options).await;
    assert!(matches!(error, OpenError::UnsupportedEngine("CockroachDB")), "{error}");
    assert!(!error.is_transient(), "waiting does not change the engine");
    let count = "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()";
    assert_eq!(host.query_one(count, &[]).await.unwrap().get::<_, i64>(0), 0);
    host.batch_execute(&format!("DROP FUNCTION {name}.version()")).await.unwrap();
    PostgresStorage::open_and_migrate(&options).await.unwrap();
    host.batch_execute(other_version).await.unwrap();
    assert!(matches!(open_error(&options).await, OpenError::UnsupportedEngine(_)), "even with existing tables");
}

#[tokio::test]
async fn missing_or_unreachable_database_fails_with_unavailable() {
    let Some(cluster) = Cluster::shared() else { return };
    let guarded = password_server();
    for (address, can_pass, words) in [
        (cluster.address("missing"), false, "the database does not exist"),
        (
            format!("host={} dbname=postgres user=postgres", cluster.directory.join("elsewhere").display()),
            true,
            "unreachable",
        ),
        ("postgres://127.0.0.1:1/db".to_owned(), true, "unreachable"),
        ("postgres://127.0.0.1:1,127.0.0.1:2/db".to_owned(), true, "; 127.0.0.1:2: "),
        (
            cluster.address("postgres").replace("user=postgres", "user=nobody"),
            false,
            "authentication failed for this role",
        ),
        (format!("postgres://somebody@{guarded}/db?sslmode=disable"), false, "requires a password"),
    ] {
        let error = open_error(&Options::parse(&address).unwrap()).await;
        assert_eq!(kind_of(&error), Some(StorageErrorKind::Unavailable), "{address}: {error} {:?}", error.source());
        assert_eq!(error.is_transient(), can_pass, "{address}");
        let message = error.source().unwrap().to_string();
        assert!(message.contains(words), "{address}: {message}");
    }
}

/// Starts a server that asks every client for a password, and returns its address.
fn password_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            // Respond to any first message with a request for a plain-text password.
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"R\0\0\0\x08\0\0\0\x03");
        }
    });
    address
}

#[tokio::test]
async fn read_only_role_can_serve_but_not_write() {
    let Some((schema, _, account)) = Schema::with_course().await else { return };
    let host = schema.host().await;
    let name = schema.name();
    let grant = format!(
        "CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA {name} TO reader; \
         GRANT SELECT ON accounts, courses, modules, credentials, catalogue_schema_version TO reader"
    );
    host.batch_execute(&grant).await.unwrap();
    let options = Schema::options_of(&schema.address().replace("user=postgres", "user=reader"));
    let OpenError::Failed(refused) = PostgresStorage::open(&options).await.unwrap_err() else {
        panic!("the role must be refused")
    };
    assert!(refused.to_string().contains("revoked_tokens") && refused.to_string().contains("grant"), "{refused}");
    host.batch_execute("GRANT SELECT ON revoked_tokens TO reader").await.unwrap();
    let storage = PostgresStorage::open(&options).await.unwrap();
    assert!(storage.find_course(&account, "course").await.unwrap().value.is_some());
    assert_eq!(storage.is_revoked(&TokenDigest::from_bytes([0; 32])).await.unwrap(), Some(false));
    let refused = storage.remove_course(&account, "course").await.unwrap_err();
    assert_eq!(refused.kind(), StorageErrorKind::Unavailable, "{refused}");
    assert!(refused.to_string().contains("grant"), "{refused}");
}

#[tokio::test]
async fn clock_returns_time_of_primary() {
    let Some(schema) = Schema::new().await else { return };
    let storage = PostgresStorage::open_and_migrate(&schema.options()).await.unwrap();
    let before = Timestamp::now();
    let clock = storage.clock().await.unwrap();
    assert!(before <= clock && clock <= Timestamp::now(), "{before} {clock}: the database runs on this machine");
}

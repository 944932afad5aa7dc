//! Writers whose session resolves the names in triggers to other tables or functions, or has another replication role.

use catalogue_core::AccountId;
use catalogue_core::storage::{CourseStorage, PageRequest};
use catalogue_postgres::{Options, PostgresStorage};
use catalogue_postgres_cluster::Cluster;
use tokio_postgres::Client;

use crate::schema::{Schema, connect};
use crate::{import_one_course, items};

/// A separate database for each test, since the default search path contains `public`.
struct Database {
    address: String,
    /// Quoted name of the schema with the tables.
    schema: &'static str,
    _slot: Schema,
}

impl Database {
    async fn new(name: &str, schema: &'static str) -> Option<Self> {
        let slot = Schema::new().await?;
        slot.host().await.batch_execute(&format!("CREATE DATABASE {name}")).await.unwrap();
        let database = Self { address: Cluster::shared().unwrap().address(name), schema, _slot: slot };
        if schema != "public" {
            let path = format!("CREATE SCHEMA {schema}; ALTER DATABASE {name} SET search_path = {schema}");
            database.session("").await.batch_execute(&path).await.unwrap();
        }
        Some(database)
    }

    fn options(&self) -> Options {
        Schema::options_of(&self.address)
    }

    async fn session(&self, more: &str) -> Client {
        connect(&format!("{} {more}", self.address)).await
    }
}

/// Asserts that each of several writes by `writer` replaces the revision, and that modules follow their course.
async fn assert_writes_replace_revision(database: &Database, writer: &Client) {
    let storage = PostgresStorage::open_and_migrate(&database.options()).await.unwrap();
    let account = import_one_course(&storage).await;
    let mut before = storage.revision(&account).await.unwrap().unwrap();
    for write in [
        "UPDATE {s}.courses SET title = 'Other' WHERE account_id = 'acc'",
        "UPDATE {s}.courses SET slug = 'renamed' WHERE account_id = 'acc'",
        "INSERT INTO {s}.modules (account_id, course_slug, number, title) VALUES ('acc', 'renamed', 3, 'Three')",
        "UPDATE {s}.modules SET number = 4 WHERE number = 2",
        "UPDATE {s}.module_contents SET content = 'Other' WHERE number = 4",
        "DELETE FROM {s}.modules WHERE number = 1",
        "INSERT INTO {s}.courses (account_id, created_at, slug, title, language) VALUES ('acc', 9, 'new', 'New', 'en')",
        "DELETE FROM {s}.courses WHERE slug = 'new'",
    ] {
        writer.batch_execute(&write.replace("{s}", database.schema)).await.unwrap_or_else(|e| panic!("{write}: {e:?}"));
        let after = storage.revision(&account).await.unwrap().unwrap();
        assert_ne!(after, before, "{write}");
        before = after;
    }
    let course = storage.find_course(&account, "renamed").await.unwrap().value.unwrap();
    let titles: Vec<_> = course.modules.iter().map(|module| &*module.title).collect();
    assert_eq!((&*course.title, &titles[..]), ("Other", &["Three", "Two"][..]));
    let page = items(&storage, &account, &PageRequest::default()).await.unwrap();
    assert_eq!(page.iter().map(|item| item.module_count).collect::<Vec<_>>(), [2]);
    let bodies = format!("SELECT number FROM {}.module_contents WHERE account_id = 'acc'", database.schema);
    let bodies = database.session("").await.query(&bodies, &[]).await.unwrap();
    assert_eq!(bodies.iter().map(|row| row.get::<_, i64>(0)).collect::<Vec<_>>(), [4]);
}

/// Staging tables, as scripts that load data create them, also with the names of transition tables.
const STAGING: &str = "
    CREATE TEMP TABLE accounts (id TEXT, name TEXT, email TEXT, revision UUID);
    CREATE TEMP TABLE courses (account_id TEXT, created_at BIGINT, slug TEXT, title TEXT, module_count BIGINT);
    CREATE TEMP TABLE modules (account_id TEXT, course_slug TEXT, number BIGINT);
    CREATE TEMP TABLE module_contents (account_id TEXT, course_slug TEXT, number BIGINT, content TEXT);
    CREATE TEMP TABLE fresh (account_id TEXT, course_slug TEXT, slug TEXT, number BIGINT);
    CREATE TEMP TABLE stale (account_id TEXT, course_slug TEXT, slug TEXT, number BIGINT);
";

/// Scripts that load data set this role, in which ordinary triggers do not fire.
const REPLICA_ROLE: &str = "SET session_replication_role = replica";

#[tokio::test]
async fn writes_replace_revision_despite_temporary_tables_or_replica_role() {
    for (name, schema, session) in [
        ("staging", "public", STAGING),
        ("staging_odd", r#""Odd, ""name"" ' %I""#, STAGING),
        ("replica_role", "public", REPLICA_ROLE),
    ] {
        let Some(database) = Database::new(name, schema).await else { return };
        PostgresStorage::migrate(&database.options()).await.unwrap();
        let writer = database.session("").await;
        writer.batch_execute(session).await.unwrap();
        assert_writes_replace_revision(&database, &writer).await;
        let truncate = format!("TRUNCATE {}.modules", database.schema);
        writer.batch_execute(&truncate).await.unwrap();
        let storage = PostgresStorage::open(&database.options()).await.unwrap();
        let page = items(&storage, &AccountId::new("acc"), &PageRequest::default()).await.unwrap();
        assert_eq!(page[0].module_count, 0, "{name}");
    }
}

/// A role whose tables and function have names that the triggers use. Its sessions search `pg_catalog` last.
const ROLE: &str = "
    CREATE ROLE {r} LOGIN;
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {r};
    CREATE SCHEMA {r} AUTHORIZATION {r};
    SET ROLE {r};
    CREATE TABLE {r}.accounts (id TEXT, revision UUID, balance BIGINT);
    INSERT INTO {r}.accounts (id, balance) VALUES ('acc', 7);
    CREATE TABLE {r}.modules (number BIGINT);
    CREATE FUNCTION {r}.gen_random_uuid() RETURNS UUID LANGUAGE sql AS 'SELECT CAST(NULL AS UUID)';
";

#[tokio::test]
async fn tables_of_role_never_shadow_catalogue_tables() {
    let Some(database) = Database::new("shop", "public").await else { return };
    PostgresStorage::migrate(&database.options()).await.unwrap();
    let host = database.session("").await;
    host.batch_execute(&ROLE.replace("{r}", "shop")).await.unwrap();
    let path = "options='-c search_path=\"$user\",public,pg_catalog' user=shop";
    let writer = database.session(path).await;
    assert_writes_replace_revision(&database, &writer).await;
    let own = "SELECT balance FROM shop.accounts WHERE revision IS NULL AND id = 'acc'";
    assert_eq!(host.query(own, &[]).await.unwrap().len(), 1, "the role's own table has changed");
}

#[tokio::test]
async fn trigger_functions_have_fixed_search_path() {
    let Some(database) = Database::new("every_function", "public").await else { return };
    PostgresStorage::migrate(&database.options()).await.unwrap();
    let settings = "SELECT DISTINCT coalesce(array_to_string(p.proconfig, ';'), '') FROM pg_proc AS p \
                    WHERE p.proname LIKE 'catalogue\\_%' AND p.prorettype = CAST('trigger' AS regtype)";
    let settings = database.session("").await.query(settings, &[]).await.unwrap();
    let settings: Vec<&str> = settings.iter().map(|row| row.get(0)).collect();
    assert_eq!(settings, ["search_path=public, pg_temp"]);
}

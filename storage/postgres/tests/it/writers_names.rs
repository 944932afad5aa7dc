//! A writer's session may find other tables, and other functions, by the names that the triggers use, or have another role in
//! replication.

use catalogue_core::AccountId;
use catalogue_core::storage::{CourseStorage, PageRequest};
use catalogue_postgres::{Options, PostgresStorage};
use catalogue_postgres_cluster::Cluster;
use tokio_postgres::{Client, NoTls};

use crate::schema::Schema;
use crate::{import_one_course, items};

/// A database of its own for each test, since the search path that most databases have names `public`.
struct Database {
    address: String,
    /// Where the tables are, as SQL writes it.
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
        let (client, connection) = tokio_postgres::connect(&format!("{} {more}", self.address), NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }
}

/// Writes by SQL in which `{s}` stands for the schema. Each must be in the next answer; the modules follow their course.
async fn writes_are_seen(database: &Database, writer: &Client) {
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

/// Staging tables, as scripts that load data make them, also with the names of what a statement has changed.
const STAGING: &str = "
    CREATE TEMP TABLE accounts (id TEXT, name TEXT, email TEXT, revision UUID);
    CREATE TEMP TABLE courses (account_id TEXT, created_at BIGINT, slug TEXT, title TEXT, module_count BIGINT);
    CREATE TEMP TABLE modules (account_id TEXT, course_slug TEXT, number BIGINT);
    CREATE TEMP TABLE module_contents (account_id TEXT, course_slug TEXT, number BIGINT, content TEXT);
    CREATE TEMP TABLE fresh (account_id TEXT, course_slug TEXT, slug TEXT, number BIGINT);
    CREATE TEMP TABLE stale (account_id TEXT, course_slug TEXT, slug TEXT, number BIGINT);
";

#[tokio::test]
async fn temporary_tables_do_not_matter_to_a_schema_of_any_name() {
    for (name, schema) in [("staging", "public"), ("staging_odd", r#""Odd, ""name"" ' %I""#)] {
        let Some(database) = Database::new(name, schema).await else { return };
        PostgresStorage::migrate(&database.options()).await.unwrap();
        let writer = database.session("").await;
        writer.batch_execute(STAGING).await.unwrap();
        writes_are_seen(&database, &writer).await;
        let truncate = format!("TRUNCATE {}.modules", database.schema);
        writer.batch_execute(&truncate).await.unwrap();
        let storage = PostgresStorage::open(&database.options()).await.unwrap();
        let page = items(&storage, &AccountId::new("acc"), &PageRequest::default()).await.unwrap();
        assert_eq!(page[0].module_count, 0);
    }
}

/// A role with tables, and a function, of its own by the same names. Its search path puts the system's functions last.
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
async fn a_roles_own_tables_do_not_matter() {
    let Some(database) = Database::new("shop", "public").await else { return };
    PostgresStorage::migrate(&database.options()).await.unwrap();
    let host = database.session("").await;
    host.batch_execute(&ROLE.replace("{r}", "shop")).await.unwrap();
    let path = "options='-c search_path=\"$user\",public,pg_catalog' user=shop";
    let writer = database.session(path).await;
    writes_are_seen(&database, &writer).await;
    let own = "SELECT balance FROM shop.accounts WHERE revision IS NULL AND id = 'acc'";
    assert_eq!(host.query(own, &[]).await.unwrap().len(), 1, "the role's own table has changed");
}

/// As scripts that load data set it.
#[tokio::test]
async fn session_in_the_role_of_a_replica_replaces_revisions_too() {
    let Some(database) = Database::new("replica_role", "public").await else { return };
    PostgresStorage::migrate(&database.options()).await.unwrap();
    let writer = database.session("").await;
    writer.batch_execute("SET session_replication_role = replica").await.unwrap();
    writes_are_seen(&database, &writer).await;
}

/// The settings that the functions of triggers run with; none where there are none.
async fn settings(host: &Client) -> Vec<String> {
    let settings = "SELECT DISTINCT coalesce(array_to_string(p.proconfig, ';'), '') FROM pg_proc AS p \
                    WHERE p.proname LIKE 'catalogue\\_%' AND p.prorettype = CAST('trigger' AS regtype)";
    host.query(settings, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn every_function_of_a_trigger_is_told_where_the_tables_are() {
    let Some(database) = Database::new("every_function", "public").await else { return };
    PostgresStorage::migrate(&database.options()).await.unwrap();
    assert_eq!(settings(&database.session("").await).await, ["search_path=public, pg_temp"]);
}

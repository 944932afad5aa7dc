//! Schemas of the catalogue's own tables when courses are read from views, and the rights that the role needs.

use catalogue_core::storage::CheckedRows;
use catalogue_postgres::{OpenError, PostgresStorage};

use super::host_app::{TEXTS, options};
use crate::schema::Schema;

/// Creates a host application's tables. Returns the name of the catalogue's schema too, which does not exist yet.
async fn host_app() -> Option<(Schema, tokio_postgres::Client, String)> {
    let schema = Schema::new().await?;
    let host = schema.host().await;
    host.batch_execute(TEXTS).await.unwrap();
    let own_schema = format!("{}_keys", schema.name());
    Some((schema, host, own_schema))
}

async fn migration_error(schema: &Schema) -> OpenError {
    PostgresStorage::migrate(&options(schema)).await.unwrap_err()
}

#[tokio::test]
async fn schema_with_other_objects_is_refused_unchanged() {
    let Some((schema, host, own_schema)) = host_app().await else { return };
    let error = PostgresStorage::open(&options(&schema)).await.unwrap_err();
    assert!(matches!(error, OpenError::OlderSchema { found: 0, .. }), "{error}");
    host.batch_execute(&format!("CREATE SCHEMA {own_schema}; CREATE TABLE {own_schema}.orders ()")).await.unwrap();
    let error = migration_error(&schema).await;
    assert!(matches!(&error, OpenError::OtherApplication(found) if *found == own_schema), "{error}");
    host.batch_execute(&format!("DROP TABLE {own_schema}.orders")).await.unwrap();
    for (kind, rest) in [("VIEW", "AS SELECT 1"), ("MATERIALIZED VIEW", "AS SELECT 1"), ("SEQUENCE", "")] {
        host.batch_execute(&format!("CREATE {kind} {own_schema}.orders {rest}")).await.unwrap();
        let error = migration_error(&schema).await;
        assert!(matches!(error, OpenError::OtherApplication(_)), "{kind}: {error}");
        host.batch_execute(&format!("DROP {kind} {own_schema}.orders")).await.unwrap();
    }
    let migrated = PostgresStorage::migrate(&options(&schema)).await.unwrap();
    assert_eq!((migrated.from, migrated.to), (0, 1));
    let tables =
        "SELECT string_agg(CAST(tablename AS TEXT), ' ' ORDER BY tablename) FROM pg_tables WHERE schemaname = $1";
    let tables: String = host.query_one(tables, &[&own_schema]).await.unwrap().get(0);
    assert_eq!(tables, "catalogue_schema_version credential_events credentials revoked_tokens sign_ins");
    let keys =
        "SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND connamespace = CAST($1 AS TEXT)::regnamespace";
    assert_eq!(host.query_one(keys, &[&own_schema]).await.unwrap().get::<_, i64>(0), 0);
}

#[tokio::test]
async fn schema_of_views_is_refused_for_own_tables() {
    let Some((schema, host, _)) = host_app().await else { return };
    host.batch_execute("DROP TABLE owners, trainings, lessons CASCADE").await.unwrap();
    for name in [schema.name(), "not_made_yet"] {
        let error = PostgresStorage::migrate(&schema.options().views(name).schema(name)).await.unwrap_err();
        assert!(matches!(&error, OpenError::OtherApplication(found) if found == name), "{error}");
    }
}

#[tokio::test]
async fn tables_for_other_course_source_are_refused() {
    let Some((schema, host, own_schema)) = host_app().await else { return };
    let with_courses = schema.options().schema(&own_schema);
    PostgresStorage::open_and_migrate(&with_courses).await.unwrap();
    let error = migration_error(&schema).await;
    assert!(matches!(error, OpenError::OtherCourseSource { views: false, .. }), "{error}");
    host.batch_execute(&format!("DROP SCHEMA {own_schema} CASCADE")).await.unwrap();
    PostgresStorage::open_and_migrate(&options(&schema)).await.unwrap();
    let error = PostgresStorage::open_and_migrate(&with_courses).await.unwrap_err();
    assert!(matches!(error, OpenError::OtherCourseSource { views: true, .. }), "{error}");
    assert!(PostgresStorage::open(&schema.options()).await.is_err());
}

#[tokio::test]
async fn role_with_documented_rights_migrates_and_serves() {
    let Some((schema, host, own_schema)) = host_app().await else { return };
    let (name, role) = (schema.name(), format!("{}_role", schema.name()));
    host.batch_execute(&format!("CREATE ROLE {role} LOGIN")).await.unwrap();
    let options = || {
        let address = schema.address().replace("user=postgres", &format!("user={role}"));
        Schema::options_of(&address).views(name).schema(&own_schema)
    };
    let error = PostgresStorage::open_and_migrate(&options()).await.unwrap_err();
    assert!(error.to_string().contains(&format!("CREATE SCHEMA {own_schema} AUTHORIZATION {role}")), "{error}");
    host.batch_execute(&format!("CREATE SCHEMA {own_schema}")).await.unwrap();
    let error = PostgresStorage::migrate(&options()).await.unwrap_err();
    assert!(matches!(error, OpenError::Role(_)), "the role may not use the schema: {error}");
    host.batch_execute(&format!("ALTER SCHEMA {own_schema} OWNER TO {role}")).await.unwrap();
    PostgresStorage::migrate(&options()).await.unwrap();
    let Err(OpenError::Views(problems)) = PostgresStorage::open(&options()).await else {
        panic!("the role may not read the views")
    };
    assert!(problems.iter().all(|problem| problem.problem.contains("may not read")), "{problems:?}");
    for problem in problems {
        host.batch_execute(&problem.expected).await.unwrap();
    }
    PostgresStorage::open(&options()).await.unwrap();
    let views = "catalogue_accounts, catalogue_courses, catalogue_modules";
    let grant = format!("GRANT USAGE ON SCHEMA {name} TO {role}; GRANT SELECT ON {views} TO {role}");
    host.batch_execute(&grant).await.unwrap();
    let storage = PostgresStorage::open_and_migrate(&options()).await.unwrap();
    let views = storage.views().unwrap();
    assert_eq!(views.check_views(CheckedRows::All).await.unwrap(), []);
    let excess_rights = async || {
        let found = views.check_rights().await.unwrap();
        // Ignore tables of other tests and, in old databases, `public`: their rights do not depend on the role.
        found.into_iter().filter(|advice| format!("{advice:?}").contains(name)).collect::<Vec<_>>()
    };
    assert_eq!(excess_rights().await.iter().map(|advice| &*advice.subject).collect::<Vec<_>>(), Vec::<&str>::new());
    host.batch_execute(&format!("GRANT SELECT ON owners TO {role}; GRANT DELETE ON trainings TO {role}"))
        .await
        .unwrap();
    let found = excess_rights().await;
    let found: Vec<_> = found.iter().map(|advice| (&*advice.subject, &*advice.finding)).collect();
    let [deletes, reads] = [format!("{name}.trainings"), format!("{name}.owners")];
    let [may_change, may_read] = ["change", "read"].map(|does| format!("role {role} may {does} it"));
    assert_eq!(found, [(&*deletes, &*may_change), (&*reads, &*may_read)]);
    let more = format!(
        "REVOKE SELECT ON owners FROM {role}; REVOKE DELETE ON trainings FROM {role}; \
         GRANT TRIGGER ON owners TO {role}; GRANT REFERENCES (id) ON trainings TO {role}; \
         CREATE SEQUENCE numbers; GRANT USAGE ON SEQUENCE numbers TO {role}; \
         CREATE ROLE {role}_team; ALTER ROLE {role} NOINHERIT; GRANT {role}_team TO {role}"
    );
    host.batch_execute(&more).await.unwrap();
    let found = excess_rights().await;
    let subjects: Vec<_> = found.iter().map(|advice| advice.subject.replace(&format!("{name}."), "")).collect();
    assert_eq!(subjects, [&*format!("role {role}"), "numbers", "owners", "trainings"], "{found:#?}");
    assert!(found[0].finding.contains(&format!("{role}_team")), "{found:#?}");
    for advice in found {
        host.batch_execute(&advice.fix.unwrap()).await.unwrap();
    }
    // Revoke the right that was granted on a single column.
    host.batch_execute(&format!("REVOKE REFERENCES (id) ON trainings FROM {role}")).await.unwrap();
    assert_eq!(excess_rights().await, []);
    host.batch_execute(&format!("ALTER ROLE {role} CREATEDB SUPERUSER")).await.unwrap();
    let found = excess_rights().await;
    assert!(found.len() == 1 && found[0].finding.contains("superuser"), "{found:?}");
}

#[tokio::test]
async fn unreleased_keys_schema_is_refused() {
    let Some((schema, host, own_schema)) = host_app().await else { return };
    PostgresStorage::migrate(&options(&schema)).await.unwrap();
    let rename = format!("ALTER TABLE {own_schema}.catalogue_schema_version RENAME TO catalogue_schema");
    host.batch_execute(&rename).await.unwrap();
    let error = migration_error(&schema).await;
    assert!(
        matches!(&error, OpenError::UnreleasedSchema { schema, beside_views: true } if *schema == own_schema),
        "{error}"
    );
    assert!(error.to_string().contains("drop them or use another schema, and create new keys"), "{error}");
}

#[tokio::test]
async fn pooled_role_needs_search_path() {
    let Some((schema, host, own_schema)) = host_app().await else { return };
    PostgresStorage::open_and_migrate(&options(&schema)).await.unwrap();
    let role = format!("{}_pooled", schema.name());
    host.batch_execute(&format!("CREATE ROLE {role} LOGIN SUPERUSER")).await.unwrap();
    let address = schema.address().replace("user=postgres", &format!("user={role}"));
    let address = address.split(" options=").next().unwrap();
    let pooled = || Schema::options_of(address).views(schema.name()).schema(&own_schema).through_transaction_pooler();
    let error = PostgresStorage::open(&pooled()).await.unwrap_err();
    let expected = format!("ALTER ROLE {role} SET search_path = {own_schema}");
    assert!(error.to_string().contains(&expected), "{error}");
    host.batch_execute(&expected).await.unwrap();
    PostgresStorage::open_and_migrate(&pooled()).await.unwrap();
}

//! Each statement of the request path is bounded by an index, and every unique key begins with the account's id.

use tokio_postgres::Client;

use crate::schema::Schema;
use crate::statements;

/// Some accounts, each with more courses than a page has.
const FILL: &str = "
    INSERT INTO accounts (id) SELECT 'a' || n FROM generate_series(1, 5000) AS n;
    INSERT INTO courses (account_id, created_at, slug, title, language)
        SELECT a.id, n / 2, 'c' || n, 'Title', 'en' FROM accounts AS a, generate_series(1, 2000) AS n
        WHERE length(a.id) = 2;
    INSERT INTO modules (account_id, course_slug, number, title)
        SELECT c.account_id, c.slug, n, 'Title' FROM courses AS c, generate_series(1, 2) AS n;
    INSERT INTO credentials (digest, account_id, id, kind, scopes, created_at)
        SELECT decode(lpad(to_hex(n), 64, '0'), 'hex'), 'a' || n, 'key_' || n, 'api-key', '', 0
        FROM generate_series(1, 5000) AS n;
    ANALYZE accounts, courses, modules, credentials;
    SET plan_cache_mode = force_generic_plan;
";

/// What PostgreSQL says it would do for that statement of the request path with any values, a step a line.
async fn plan(host: &Client, name: &str, types: &str, values: &str) -> Vec<String> {
    let statements = statements::of_source("read.rs");
    let (_, sql) = statements.iter().find(|(declared, _)| declared == name).unwrap();
    host.batch_execute(&format!("PREPARE {name} ({types}) AS {sql}")).await.unwrap();
    let rows = host.query(&format!("EXPLAIN (COSTS OFF) EXECUTE {name} ({values})"), &[]).await.unwrap();
    let steps = rows.iter().map(|row| row.get::<_, &str>(0).trim().trim_start_matches("->  "));
    // How the part that runs once is named differs between versions of PostgreSQL.
    steps.filter(|step| !step.starts_with("InitPlan")).map(str::to_owned).collect()
}

#[tokio::test]
async fn reads_are_bounded_by_an_index() {
    let Some(schema) = Schema::new().await else { return };
    schema.storage().await;
    let host = schema.host().await;
    host.batch_execute(FILL).await.unwrap();
    assert_eq!(
        plan(&host, "FIRST_PAGE", "text, bigint", "'a1', 51").await,
        [
            "Limit",
            "Index Scan using accounts_pkey on accounts",
            "Index Cond: (id = $1)",
            "Index Scan Backward using courses_pkey on courses",
            "Index Cond: (account_id = $1)",
        ]
    );
    assert_eq!(
        plan(&host, "NEXT_PAGE", "text, bigint, bigint, text", "'a1', 51, 9, 'c'").await,
        [
            "Limit",
            "Index Scan using accounts_pkey on accounts",
            "Index Cond: (id = $1)",
            "Index Scan Backward using courses_pkey on courses",
            "Index Cond: ((account_id = $1) AND (ROW(created_at, slug) < ROW($3, $4)))",
        ]
    );
    assert_eq!(
        plan(&host, "FIND_REVISION_OF_NONE", "text", "'a1'").await,
        [
            "Result",
            "One-Time Filter: ($0 IS NULL)",
            "Limit",
            "Index Only Scan Backward using courses_pkey on courses",
            "Index Cond: (account_id = $1)",
            "Index Scan using accounts_pkey on accounts",
            "Index Cond: (id = $1)",
        ]
    );
    // How the two are joined, and the few modules sorted, is the planner's choice.
    let detail = plan(&host, "FIND_COURSE", "text, text", "'a1', 'c1'").await;
    let look_ups: Vec<_> = detail.iter().filter(|step| step.starts_with("Index Cond")).collect();
    assert_eq!(look_ups.len(), 3, "{detail:?}");
    let of_course = look_ups.iter().filter(|step| step.contains("$1") && step.contains("$2"));
    assert_eq!(of_course.count(), 2, "{detail:?}");
    assert!(!detail.iter().any(|step| step.contains("Seq Scan")), "{detail:?}");
    assert_eq!(
        plan(&host, "FIND_CREDENTIAL", "bytea", "'x'").await,
        [
            "Nested Loop",
            "Index Scan using credentials_pkey on credentials c",
            "Index Cond: (digest = $1)",
            "Index Scan using accounts_pkey on accounts a",
            "Index Cond: (id = c.account_id)",
        ]
    );
    assert_eq!(
        plan(&host, "FIND_REVISION", "text", "'a1'").await,
        ["Index Scan using accounts_pkey on accounts", "Index Cond: (id = $1)"]
    );
}

#[tokio::test]
async fn every_unique_key_begins_with_what_the_tables_are_spread_by() {
    let Some(schema) = Schema::new().await else { return };
    schema.storage().await;
    let keys = "SELECT t.relname || ' ' || a.attname || ' ' || coalesce(c.collname, '-') FROM pg_index AS i \
                JOIN pg_class AS t ON t.oid = i.indrelid \
                JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = i.indkey[0] \
                LEFT JOIN pg_collation AS c ON c.oid = a.attcollation \
                WHERE i.indisunique AND t.relnamespace = CAST(CAST(current_schema() AS TEXT) AS regnamespace) \
                ORDER BY 1";
    let rows = schema.host().await.query(keys, &[]).await.unwrap();
    let keys: Vec<&str> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(
        keys,
        [
            "accounts id C",
            // The one row that says which version the schema has.
            "catalogue_schema id -",
            "courses account_id C",
            "courses account_id C",
            "credentials account_id C",
            "credentials digest -",
            "module_contents account_id C",
            "modules account_id C",
        ]
    );
}

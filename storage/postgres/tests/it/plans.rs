//! Plans of statements, each bounded by an index, and the first columns of unique keys.

use std::time::Duration;

use catalogue_core::admin::{Account, AdminStorage, Record};
use catalogue_core::{AccountId, Course};
use tokio::time::timeout;
use tokio_postgres::Client;

use crate::course;
use crate::schema::Schema;
use crate::statements::{self, Declared};

/// Accounts with a key each; nine of them have more courses than fit on a page.
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
    INSERT INTO module_contents (account_id, course_slug, number, content)
        SELECT m.account_id, m.course_slug, m.number, 'Body' FROM modules AS m;
    INSERT INTO sign_ins (digest, account_id, kind, created_at, expires_at)
        SELECT decode(lpad(to_hex(n), 64, '0'), 'hex'), 'a' || n / 2 + 1, 'session', n, n
        FROM generate_series(1, 9000) AS n;
    INSERT INTO credential_events (account_id, id, at, action, actor)
        SELECT 'a' || n / 2 + 1, 'evt_' || n, n, 'signed_in', 'owner' FROM generate_series(1, 9000) AS n;
    INSERT INTO revoked_tokens (digest, expires_at, revoked_at)
        SELECT decode(lpad(to_hex(n), 64, '0'), 'hex'), n, n FROM generate_series(1, 9000) AS n;
    ANALYZE accounts, courses, modules, module_contents, credentials, sign_ins, credential_events, revoked_tokens;
    SET plan_cache_mode = force_generic_plan;
";

/// Returns PostgreSQL's generic plan of a statement, one step per line.
async fn plan_of(host: &Client, sql: &Declared) -> Vec<String> {
    let Declared { text, types, .. } = sql;
    let (types, values) = match &types[..] {
        [] => Default::default(),
        types => (format!("({})", types.join(", ")), format!("({})", vec!["NULL"; types.len()].join(", "))),
    };
    host.batch_execute(&format!("DEALLOCATE ALL; PREPARE under_test {types} AS {text}")).await.unwrap();
    let rows = host.query(&format!("EXPLAIN (COSTS OFF) EXECUTE under_test {values}"), &[]).await.unwrap();
    let steps = rows.iter().map(|row| row.get::<_, &str>(0).trim().trim_start_matches("->  "));
    // Skip the label of a subplan that runs once: it differs between versions of PostgreSQL.
    steps.filter(|step| !step.starts_with("InitPlan")).map(str::to_owned).collect()
}

/// Creates tables with content, and a session that makes generic plans.
async fn filled() -> Option<(Schema, Client)> {
    let schema = Schema::new().await?;
    schema.storage().await;
    let host = schema.host().await;
    host.batch_execute(FILL).await.unwrap();
    Some((schema, host))
}

/// Returns the statements of `files` that `is_included`, each with its plan. Asserts that no plan scans a table.
async fn plans(host: &Client, files: &[&str], is_included: impl Fn(&Declared) -> bool) -> Vec<(Declared, Vec<String>)> {
    let mut plans = Vec::new();
    for sql in files.iter().flat_map(|file| statements::declared_in(file)).filter(is_included) {
        let plan = plan_of(host, &sql).await;
        assert!(!plan.iter().any(|step| step.contains("Seq Scan")), "{sql:?}: {plan:#?}");
        plans.push((sql, plan));
    }
    plans
}

/// Asserts that each plan reads a range of an index, and returns the names of the statements.
#[track_caller]
fn assert_index_ranges(plans: Vec<(Declared, Vec<String>)>) -> Vec<String> {
    let names = plans.into_iter().map(|(sql, plan)| {
        assert!(plan.iter().any(|step| step.starts_with("Index Cond: ")), "{sql:?}: {plan:#?}");
        sql.name
    });
    names.collect()
}

#[tokio::test]
async fn request_statements_read_one_account_by_index_and_no_content() {
    let Some((_schema, host)) = filled().await else { return };
    let plans = plans(&host, &["read.rs"], |_| true).await;
    assert_eq!(plans.len(), 5, "{plans:#?}");
    for (sql, plan) in plans {
        let expected: &[&str] = match &*sql.name {
            "PAGE" => &[
                "Aggregate",
                "Filter: (count(courses.slug) > 0)",
                "Index Scan using accounts_pkey on accounts",
                "Index Cond: (id = $1)",
                "Limit",
                "Index Scan Backward using courses_pkey on courses",
                "Index Cond: ((account_id = $1) AND (ROW(created_at, slug) < ROW($3, $4)))",
            ],
            // The planner chooses how courses and modules are joined, and how the few modules are sorted.
            "FIND_COURSE" => {
                let lookups: Vec<_> = plan.iter().filter(|step| step.starts_with("Index Cond")).collect();
                let of_course = lookups.iter().filter(|step| step.contains("$1") && step.contains("$2"));
                assert_eq!((lookups.len(), of_course.count()), (3, 2), "{plan:#?}");
                assert!(!sql.text.contains("content"), "{sql:?}");
                continue;
            }
            "FIND_CREDENTIAL" => &[
                "Nested Loop",
                "Index Scan using credentials_pkey on credentials c",
                "Index Cond: (digest = $1)",
                "Index Scan using accounts_pkey on accounts a",
                "Index Cond: (id = c.account_id)",
            ],
            "FIND_REVISION" => &["Index Scan using accounts_pkey on accounts", "Index Cond: (id = $1)"],
            "IS_REVOKED" => &[
                "Aggregate",
                "Index Only Scan using revoked_tokens_pkey on revoked_tokens",
                "Index Cond: (digest = $1)",
            ],
            name => panic!("{name} has no expected plan: {plan:#?}"),
        };
        assert_eq!(plan, expected, "{sql:?}");
    }
}

/// Asserts that each table of a plan is read through an index, by the account and, if `of_course`, by the course.
#[track_caller]
fn assert_bounded(sql: &Declared, plan: &[String], of_course: bool) {
    let is_scan = |step: &&String| step.contains(" Scan ") || step.contains("Scan on ");
    let (scans, bounds): (Vec<_>, Vec<_>) = (
        plan.iter()
            .filter(is_scan)
            .filter(|step| !step.contains("Function Scan") && !step.contains("Heap Scan"))
            .collect(),
        plan.iter()
            .filter_map(|step| step.strip_prefix("Index Cond: "))
            .map(|bound| bound.replace("($1)::text", "$1"))
            .collect(),
    );
    assert!(!scans.is_empty() && scans.iter().all(|step| step.contains("Index ")), "{sql:?}: {plan:#?}");
    assert_eq!(scans.len(), bounds.len(), "{sql:?}: {plan:#?}");
    for bound in bounds {
        let is_bounded = bound.contains("= $1)") && (!of_course || bound.contains("$2"));
        assert!(is_bounded && !bound.contains(['<', '>']), "{sql:?}: {plan:#?}");
    }
}

#[tokio::test]
async fn import_reads_and_changes_only_rows_of_its_course() {
    let Some((_schema, host)) = filled().await else { return };
    let files = ["import.rs", "writes.rs", "whole_course.rs"];
    // `COPY` has no plan.
    let mut plans = plans(&host, &files, |sql| !sql.text.starts_with("COPY ")).await;
    // `INSERT` finds a conflicting row by the unique key, without a separate step.
    plans.retain(|(sql, _)| !sql.text.starts_with("INSERT "));
    for (sql, plan) in &plans {
        let of_course = !sql.text.contains("accounts") && sql.name != "SLUGS";
        assert_bounded(sql, plan, of_course);
    }
    assert_eq!(
        plans.iter().map(|(sql, _)| &*sql.name).collect::<Vec<_>>(),
        [
            "UPDATE_ACCOUNT",
            "CREATION_TIME",
            "SLUGS",
            "LOCK_ACCOUNT",
            "REPLACE_REVISION",
            "REMOVE_COURSE",
            "REMOVE_COURSE",
            "REMOVE_COURSE",
            "FIND_COURSE",
            "FIND_MODULES",
        ]
    );
}

#[tokio::test]
async fn other_statements_read_index_ranges() {
    let Some((_schema, host)) = filled().await else { return };
    for (sql, plan) in plans(&host, &["export.rs"], |_| true).await {
        let bounds = plan.iter().filter(|step| step.starts_with("Index Cond: "));
        assert_eq!(bounds.count(), 1, "{sql:?}: {plan:#?}");
    }
    let files = ["credentials.rs", "events.rs", "sign_ins.rs", "revocations.rs"];
    let names = assert_index_ranges(plans(&host, &files, |sql| !sql.text.starts_with("INSERT ")).await);
    for name in [
        "LIST",
        "RENAME",
        "REVOKE",
        "END",
        "LAST_EVENTS",
        "FIND_SIGN_IN",
        "LOCK_SIGN_INS",
        "REMOVE_PAST_RETENTION",
        "REMOVE_REVOCATIONS_PAST_RETENTION",
    ] {
        assert!(names.iter().any(|found| found == name), "{name}: {names:?}");
    }
    let more_courses = "INSERT INTO courses (account_id, created_at, slug, title, language) \
                         SELECT id, 0, 'c', 'Title', 'en' FROM accounts WHERE length(id) > 2; ANALYZE courses";
    host.batch_execute(more_courses).await.unwrap();
    let mut names = assert_index_ranges(plans(&host, &["accounts.rs"], |_| true).await);
    names.extend(assert_index_ranges(plans(&host, &["credentials.rs"], |sql| sql.name == "OF_ACCOUNTS").await));
    names.dedup();
    assert_eq!(names, ["PAGE_OF_ALL", "NAMED_ACCOUNTS", "COURSES_OF", "KEYS_OF", "LOCK", "REMOVE", "OF_ACCOUNTS"]);
}

/// Without the bound, a list would slow down with each ended key.
#[tokio::test]
async fn ended_keys_are_read_only_up_to_limit() {
    const ENDED: &str = "
        INSERT INTO credentials (digest, account_id, id, kind, scopes, created_at, expires_at)
            SELECT decode(lpad(to_hex(10000 + a * 1000 + n), 64, '0'), 'hex'), 'a' || a, 'key_' || n, 'api-key', '', n, n
            FROM generate_series(1, 50) AS a, generate_series(6000, 6999) AS n;
        INSERT INTO credential_events (account_id, id, at, action, actor, credential_id)
            SELECT 'a' || a, 'evt_' || n, n, 'key_created', 'owner', 'key_' || n
            FROM generate_series(1, 50) AS a, generate_series(10000, 11000) AS n;
        DELETE FROM credentials WHERE expires_at IS NULL;
        ANALYZE credentials, credential_events";
    let Some((_schema, host)) = filled().await else { return };
    host.batch_execute(ENDED).await.unwrap();
    for (sql, plan) in plans(&host, &["credentials.rs"], |sql| ["LIST", "ENDED"].contains(&&*sql.name)).await {
        let scan = if sql.name == "LIST" { "Index Scan Backward" } else { "Index Scan" };
        let limited = plan.iter().position(|step| step == "Limit").expect("a limit");
        let read =
            plan[limited..].iter().position(|step| step.starts_with(&format!("{scan} using credentials_by_end")));
        assert!(read.is_some_and(|steps| steps <= 2), "{sql:?}: {plan:#?}");
        assert!(!plan.iter().any(|step| step.starts_with("Sort")), "{sql:?}: {plan:#?}");
    }
    let of_key = |sql: &Declared| ["RENAMES", "OLD", "REMOVE_OF_KEYS"].contains(&&*sql.name);
    for (sql, plan) in plans(&host, &["events.rs"], of_key).await {
        assert!(plan.iter().any(|step| step.contains("credential_events_by_key")), "{sql:?}: {plan:#?}");
    }
}

#[tokio::test]
async fn unique_keys_begin_with_account_id_or_digest() {
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
            // The only row contains the schema version.
            "catalogue_schema_version id -",
            "courses account_id C",
            "courses account_id C",
            "credential_events account_id C",
            "credentials account_id C",
            "credentials digest -",
            "module_contents account_id C",
            "modules account_id C",
            "revoked_tokens digest -",
            "sign_ins digest -",
        ]
    );
}

/// Plans made for empty tables stay in use while the import fills the tables, so they must read only the rows of a course.
#[tokio::test]
async fn import_into_empty_tables_reads_only_rows_of_its_course() {
    const COURSES: i64 = 1000;
    const ROWS: i64 = 5 * COURSES;
    let Some(schema) = Schema::new().await else { return };
    let storage = schema.storage().await;
    let host = schema.host().await;
    host.batch_execute("VACUUM ANALYZE accounts, courses, modules, module_contents").await.unwrap();
    let account = AccountId::new("acc_1");
    let courses = (0..COURSES).map(|n| Record::Course(Course { slug: format!("c{n}"), ..course(&account) }));
    let records: Vec<_> = courses.collect();
    let mut import = storage.begin_import().await.unwrap();
    import.put_account(&Account { id: account, name: String::new(), email: String::new() }).await.unwrap();
    for records in records.chunks(100) {
        import.put_all(records).await.unwrap();
    }
    import.commit().await.unwrap();
    // A session publishes its statistics when it ends.
    drop(storage);
    let counters = "SELECT coalesce(sum(n_tup_ins), 0)::bigint, coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::bigint, \
                pg_stat_clear_snapshot()::text FROM pg_stat_user_tables \
                WHERE schemaname = current_schema() AND relname IN ('courses', 'modules', 'module_contents')";
    let read = timeout(Duration::from_secs(60), async {
        loop {
            let row = host.query_one(counters, &[]).await.unwrap();
            if row.get::<_, i64>(0) == ROWS {
                return row.get::<_, i64>(1);
            }
        }
    });
    let read = read.await.expect("statistics of all written rows");
    assert!(read <= 3 * ROWS, "{read} rows were read to write {ROWS}");
}

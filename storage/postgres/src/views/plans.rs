//! [`check`]: what PostgreSQL scans or sorts for the requests of the largest account, with the indexes that avoid it.

use std::collections::BTreeSet;

use catalogue_core::Timestamp;
use catalogue_core::storage::views::COURSES;
use catalogue_core::storage::{StorageError, ViewAdvice};
use tokio_postgres::types::Type;

use super::Views;
use super::check::query_text;
use super::rows::Time;
use crate::connection::{Connection, Sql, Values};
use crate::options::quoted;
use crate::rows::get;

/// Begins a transaction for one statement: the views that it locks cannot be recreated before its end.
const BEGIN: &str = "BEGIN READ ONLY; SET LOCAL statement_timeout = '60s'";

/// Maximum number of rows of a table, or of courses of an account, that PostgreSQL reads and sorts quickly.
const MAX_SMALL_ROWS: f32 = 1_000.0;

/// Templates of indexes by the request that they serve, with placeholders for the host application's names.
const PAGE: &str =
    "CREATE INDEX ON <table behind catalogue_courses> (<account_id>, <created_at>, <slug> COLLATE \"C\")";
const COURSE: &str = "CREATE INDEX ON <table behind catalogue_courses> (<account_id>, <slug>); \
                      CREATE INDEX ON <table behind catalogue_modules> (<reference to its course>)";
const KEY: &str = "CREATE INDEX ON <table behind catalogue_accounts> (<id>); \
                   CREATE INDEX ON <table behind catalogue_revisions> (<account_id>)";

/// Number of rows of each table (estimated from its size without statistics), and whether it has statistics. Tables are found
/// by name in the catalogs, because the role may lack the right to use their schema.
const TABLES: Sql = Sql {
    text: "SELECT name, CASE WHEN reltuples > 0 THEN reltuples ELSE CAST(pg_relation_size(oid) / 100 AS REAL) END, reltuples > 0 \
           FROM (SELECT c.oid, c.reltuples, quote_ident(CAST(n.nspname AS TEXT)) || '.' || quote_ident(CAST(c.relname AS TEXT)) \
           AS name FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace) AS tables \
           WHERE name = ANY($1) ORDER BY name",
    types: &[Type::TEXT_ARRAY],
};

pub(crate) async fn check(views: &Views) -> Result<Vec<ViewAdvice>, StorageError> {
    let connection = views.connection().await?;
    let view = format!("{}.{COURSES}", quoted(&views.schema));
    let largest = format!(
        "SELECT a, min(s), count(*) FROM (SELECT CAST(account_id AS TEXT) AS a, CAST(slug AS TEXT) AS s FROM {view} LIMIT 100000) \
         AS c WHERE a IS NOT NULL AND s IS NOT NULL GROUP BY a ORDER BY count(*) DESC LIMIT 1"
    );
    connection.run(BEGIN).await?;
    let found = query_text(&connection, &largest).await?;
    connection.run("ROLLBACK").await?;
    let (account, slug, courses) = match found.first() {
        Some(row) => (get(row, 0)?, get(row, 1)?, get(row, 2)?),
        None => ("", "", 0),
    };
    let statements = &views.statements;
    let (now, digest): (_, &[u8]) = (Time(Timestamp::now()), &[0; 32]);
    let (first, after): (Values<'_>, Values<'_>) = (&[&account, &51_i64], &[&account, &51_i64, &now, &slug]);
    let (course, key): (Values<'_>, Values<'_>) = (&[&account, &slug], &[&digest]);
    let mut plans = vec![
        ("the first page", PAGE, explain(&connection, &statements.first_page.sql(), first).await?),
        ("a later page", PAGE, explain(&connection, &statements.next_page.sql(), after).await?),
        ("a course", COURSE, explain(&connection, &statements.find_course.sql(), course).await?),
    ];
    if views.columns.has_revisions() {
        plans.push(("a key", KEY, explain(&connection, &statements.find_credential.sql(), key).await?));
    }
    let tables: BTreeSet<&str> = plans.iter().flat_map(|(_, _, plan)| plan).filter_map(Step::table).collect();
    let tables: Vec<&str> = tables.into_iter().collect();
    let tables = connection.query(&TABLES, &[&tables]).await?;
    let (mut advice, mut large) = (Vec::new(), Vec::new());
    for row in &tables {
        let (table, count, is_analyzed): (&str, f32, bool) = (get(row, 0)?, get(row, 1)?, get(row, 2)?);
        if count > MAX_SMALL_ROWS {
            large.push(table);
        }
        if count > MAX_SMALL_ROWS && !is_analyzed {
            let finding = "it has no statistics, so plans are guesses".to_owned();
            advice.push(ViewAdvice { subject: table.to_owned(), finding, fix: Some(format!("ANALYZE {table}")) });
        }
    }
    if !advice.is_empty() {
        return Ok(advice);
    }
    for (subject, index, plan) in &plans {
        let scanned: BTreeSet<&str> =
            plan.iter().filter_map(Step::scanned).filter(|table| large.contains(table)).collect();
        let mut actions: Vec<String> = scanned.iter().map(|table| format!("scans {table}")).collect();
        if subject.ends_with("page") && courses > MAX_SMALL_ROWS as i64 && plan.iter().any(Step::sorts) {
            actions.push(format!("sorts {courses} courses of an account"));
        }
        if !actions.is_empty() {
            let finding = format!("PostgreSQL {}", actions.join(", "));
            advice.push(ViewAdvice { subject: (*subject).to_owned(), finding, fix: Some((*index).to_owned()) });
        }
    }
    Ok(advice)
}

/// A step of a plan, such as `Seq Scan on public.course c`.
struct Step(String);

impl Step {
    /// Parses a line of `EXPLAIN`; `None` for the details of a step.
    fn parse(line: &str) -> Option<Self> {
        let (head, _) = line.trim_start().rsplit_once("  (cost=")?;
        Some(Self(head.trim_start_matches("->  ").to_owned()))
    }

    /// Returns the name of the table that the step reads, quoted as in SQL.
    fn table(&self) -> Option<&str> {
        let (_, relation) = self.0.split_once("Scan")?.1.split_once(" on ")?;
        let mut is_quoted = false;
        let end = relation.find(|c| {
            is_quoted ^= c == '"';
            c == ' ' && !is_quoted
        });
        Some(&relation[..end.unwrap_or(relation.len())])
    }

    fn scanned(&self) -> Option<&str> {
        self.table().filter(|_| self.0.contains("Seq Scan"))
    }

    /// Returns `true` for a sort of all rows. An incremental sort ends with the page.
    fn sorts(&self) -> bool {
        self.0.ends_with("Sort") && !self.0.contains("Incremental")
    }
}

async fn explain(connection: &Connection, sql: &Sql<'_>, values: Values<'_>) -> Result<Vec<Step>, StorageError> {
    connection.run(BEGIN).await?;
    let text = format!("EXPLAIN (VERBOSE) {}", sql.text);
    let rows = connection.query(&Sql { text: &text, types: sql.types }, values).await?;
    connection.run("ROLLBACK").await?;
    rows.iter().filter_map(|row| get(row, 0).map(Step::parse).transpose()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plan_step_parser_finds_table() {
        for (line, table, is_scan) in [
            ("Limit  (cost=0.42..8.44 rows=1 width=7)", None, false),
            (
                "  ->  Seq Scan on public.\"my course\" c  (cost=0.42..8.44 rows=1 width=7)",
                Some("public.\"my course\""),
                true,
            ),
            ("  ->  Parallel Seq Scan on public.c  (cost=0.42..8.44 rows=1 width=7)", Some("public.c"), true),
            ("->  Index Only Scan using i on public.c  (cost=0.42..8.44 rows=1 width=7)", Some("public.c"), false),
        ] {
            let step = Step::parse(line).unwrap();
            assert_eq!((step.table(), step.scanned().is_some()), (table, is_scan), "{line}");
        }
        assert!(Step::parse("        Index Cond: (c.kind = 1)").is_none());
    }

    #[test]
    fn incremental_sort_does_not_count_as_sort() {
        for (head, sorts) in [("Sort", true), ("Incremental Sort", false), ("Limit", false)] {
            let step = Step::parse(&format!("  ->  {head}  (cost=0.42..8.44 rows=1 width=7)")).unwrap();
            assert_eq!(step.sorts(), sorts, "{head}");
        }
    }
}

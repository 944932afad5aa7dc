//! [`check`]: whether the database has an index for each statement of a request (V7).
//!
//! A plan for the largest account that sorts or reads more than it needs is asked for again where PostgreSQL is to do so only
//! if it must. What it still does then lacks an index; else the table is small, or its statistics are old.

use std::time::SystemTime;

use catalogue_core::storage::{StorageError, ViewAdvice};
use tokio_postgres::types::{ToSql, Type};

use super::Views;
use super::check::ask;
use super::columns::{COURSES, Columns};
use super::plan::Plan;
use crate::connection::{Connection, Sql, Values};
use crate::error::storage_error;
use crate::options::quoted;
use crate::rows::get;

/// Those that there are of them: some are of later versions.
const AVOID: &str = "SELECT set_config(name, 'off', TRUE) FROM pg_catalog.pg_settings WHERE name IN \
                     ('enable_seqscan', 'enable_sort', 'enable_incremental_sort', 'enable_hashjoin', 'enable_mergejoin', \
                     'enable_bitmapscan', 'enable_material', 'enable_memoize')";

/// Where more rows than this are sorted or read although there is an index, it is said.
const MANY: f64 = 10_000.0;

const HAS_INDEX: Sql = Sql {
    text: "SELECT 1 FROM pg_catalog.pg_index WHERE indrelid = CAST($1 AS REGCLASS) \
           AND strpos(pg_get_indexdef(indexrelid), $2) > 0",
    types: &[Type::TEXT, Type::TEXT],
};

pub(crate) async fn check(views: &Views) -> Result<Vec<ViewAdvice>, StorageError> {
    let connection = views.connection().await?;
    let begin = "BEGIN READ ONLY; SET LOCAL statement_timeout = '60s'; SET LOCAL max_parallel_workers_per_gather = 0";
    connection.run(begin).await.map_err(storage_error)?;
    let view = format!("{}.{COURSES}", quoted(&views.schema));
    let largest = format!(
        "SELECT a, min(s) FROM (SELECT CAST(account_id AS TEXT) AS a, CAST(slug AS TEXT) AS s FROM {view} LIMIT 100000) \
         AS c WHERE a IS NOT NULL AND s IS NOT NULL GROUP BY a ORDER BY count(*) DESC LIMIT 1"
    );
    let found = ask(&connection, &largest).await?;
    let (account, slug) = match found.first() {
        Some(row) => (get(row, 0)?, get(row, 1)?),
        None => ("", ""),
    };
    let statements = &views.statements;
    let now = SystemTime::now();
    let microseconds = catalogue_core::Timestamp::now().as_microseconds();
    let next = statements.next_page();
    let time: &(dyn ToSql + Sync) = if next.types[2] == Type::INT8 { &microseconds } else { &now };
    let digest: &[u8] = &[0; 32];
    let (first, after): (Values<'_>, Values<'_>) = (&[&account, &51_i64], &[&account, &51_i64, time, &slug]);
    let (course, key): (Values<'_>, Values<'_>) = (&[&account, &slug], &[&digest]);
    let mut asked = vec![
        ("the first page", statements.first_page(), first),
        ("the next page", next, after),
        ("a course", statements.find_course(), course),
    ];
    if views.columns.has_revisions() {
        asked.push(("a key", statements.find_credential(), key));
    }
    let values: Vec<String> = [account, slug].iter().map(|value| format!("'{}'", value.replace('\'', "''"))).collect();
    let mut usual = Vec::new();
    for (about, sql, bound) in asked {
        let plan = explain(&connection, &sql, bound).await?;
        if (about.ends_with("page") && plan.sorts()) || plan.scans(&values).next().is_some() {
            usual.push((about, sql, bound, plan));
        }
    }
    ask(&connection, AVOID).await?;
    let order = order(&connection, &view, &views.columns).await?;
    let mut advice: Vec<ViewAdvice> = Vec::new();
    for (about, sql, bound, usual) in usual {
        let plan = explain(&connection, &sql, bound).await?;
        for found in judge(&connection, about, &plan, &usual, &values, order.as_ref()).await? {
            // Once for all statements that want the same.
            if !advice.iter().any(|other| other.remedy.is_some() && other.remedy == found.remedy) {
                advice.push(found);
            }
        }
    }
    Ok(advice)
}

/// What a plan lacks that sorts and reads whole tables only where it must.
async fn judge(
    connection: &Connection,
    about: &str,
    plan: &Plan,
    usual: &Plan,
    values: &[String],
    order: Option<&(String, Vec<String>)>,
) -> Result<Vec<ViewAdvice>, StorageError> {
    let advice = |what: String, remedy| ViewAdvice { about: about.to_owned(), what, remedy };
    let is_page = about.ends_with("page");
    let (mut found, mut of_order) = (Vec::new(), is_page && plan.sorts());
    for (step, table, name) in plan.scans(values) {
        let is_ordered = is_page && order.is_some_and(|(ordered, _)| ordered == table);
        let compared = plan.compared(name);
        if is_ordered && !step.kind.contains("Seq Scan") || is_ordered && plan.sorts() {
            of_order = true;
            continue;
        }
        let elements: Vec<_> = compared.iter().map(|expression| element(expression)).collect();
        let remedy = (!elements.is_empty()).then(|| format!("CREATE INDEX ON {table} ({})", elements.join(", ")));
        let does = if step.kind.contains("Seq Scan") { "reads all of" } else { "reads more rows than it needs of" };
        found.push(advice(format!("it {does} {table}"), remedy));
    }
    if of_order {
        let why = "it sorts, or reads more rows than it shows";
        found.push(match order {
            None => advice(
                format!("{why}: `account_id`, `created_at` and `slug` of {COURSES} are not columns of one table, so no index has them"),
                None,
            ),
            Some((_, columns)) if columns[1].contains("::timestamp with time zone") => advice(
                format!("{why}: `created_at` is cast to a time with a zone, which no index can have; leave the cast out of the view, \
                         a timestamp is read as UTC"),
                None,
            ),
            Some((table, columns)) => {
                let elements: Vec<_> = columns.iter().map(|expression| element(expression)).collect();
                let elements = format!("({} COLLATE \"C\")", elements.join(", "));
                let is_there = connection.query(&HAS_INDEX, &[table, &elements]).await.map_err(storage_error)?;
                match is_there.is_empty() {
                    true => advice(why.to_owned(), Some(format!("CREATE INDEX ON {table} {elements}"))),
                    false => advice(format!("{why}, though {table} has an index on {elements}: the view keeps it from being used"), None),
                }
            }
        });
    }
    if found.is_empty() && usual.most_rows() > MANY {
        found.push(advice(
            "it sorts or reads many rows, though an index would serve".to_owned(),
            Some("ANALYZE".to_owned()),
        ));
    }
    Ok(found)
}

async fn explain(connection: &Connection, sql: &Sql<'_>, values: Values<'_>) -> Result<Plan, StorageError> {
    let text = format!("EXPLAIN (VERBOSE) {}", sql.text);
    let rows = connection.query(&Sql { text: &text, types: sql.types }, values).await.map_err(storage_error)?;
    let lines: Vec<&str> = rows.iter().map(|row| get(row, 0)).collect::<Result<_, _>>()?;
    Ok(Plan::parse(&lines))
}

/// The table whose columns the pages are ordered by, and those: account, time and slug.
async fn order(
    connection: &Connection,
    view: &str,
    columns: &Columns,
) -> Result<Option<(String, Vec<String>)>, StorageError> {
    let key = |column| match columns.is_text(COURSES, column) {
        true => column.to_owned(),
        false => format!("CAST({column} AS TEXT)"),
    };
    let text = format!("SELECT {}, created_at, {} FROM {view}", key("account_id"), key("slug"));
    let plan = explain(connection, &Sql { text: &text, types: &[] }, &[]).await?;
    Ok(plan.source().map(|(table, columns)| (table.to_owned(), columns)))
}

/// An expression as an index has it.
fn element(expression: &str) -> String {
    let is_column = expression.starts_with('"') || expression.chars().all(|c| c.is_alphanumeric() || c == '_');
    if is_column { expression.to_owned() } else { format!("({expression})") }
}

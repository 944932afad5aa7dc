//! [`check`]: whether the database has an index for each statement of a request.
//!
//! A plan for the largest account that sorts or reads more than it needs is asked for again where PostgreSQL is to do so only
//! if it must. What it still does then lacks an index. Of small tables it may read all in any case, so that their indexes are
//! looked at. If that plan lacks nothing, the usual plan is judged: scans of tables that are not small and have no index that
//! begins with the compared columns. Large tables without statistics are reported first.

use std::collections::BTreeSet;
use std::time::SystemTime;

use catalogue_core::storage::{StorageError, ViewAdvice};
use tokio_postgres::types::{ToSql, Type};

use super::Views;
use super::check::ask;
use super::columns::{COURSES, Columns};
use super::plan::{Plan, Scan};
use crate::connection::{Connection, Sql, Values};
use crate::options::quoted;
use crate::rows::get;

/// Each statement has a transaction of its own: a view that it has locked cannot be made again.
const BEGIN: &str =
    "BEGIN READ ONLY; SET LOCAL statement_timeout = '60s'; SET LOCAL max_parallel_workers_per_gather = 0";

/// Those that there are of them: some are of later versions.
const AVOID: &str = "SELECT set_config(name, 'off', TRUE) FROM pg_catalog.pg_settings WHERE name IN \
                     ('enable_seqscan', 'enable_sort', 'enable_incremental_sort', 'enable_hashjoin', 'enable_mergejoin', \
                     'enable_bitmapscan', 'enable_material', 'enable_memoize')";

/// Up to so many rows a table is small.
const SMALL: f32 = 1_000.0;

/// How many rows a table has, by its size where it has no statistics, whether it has them, and its indexes' columns: each as it
/// is compared, a `varchar` also as `text`. The table is found by name, as the role may not use its schema.
const INDEXES: Sql = Sql {
    text: "SELECT CASE WHEN c.reltuples > 0 THEN c.reltuples ELSE CAST(pg_relation_size(c.oid) / 100 AS REAL) END, \
           c.reltuples > 0, i.indisunique, i.indisvalid AND i.indpred IS NULL, \
           ARRAY(SELECT pg_get_indexdef(i.indexrelid, a.attnum, FALSE) || ' ' || CASE WHEN a.atttypid = CAST('varchar' AS REGTYPE) THEN '::text' ELSE '' END FROM pg_catalog.pg_attribute AS a \
           WHERE a.attrelid = i.indexrelid AND a.attnum <= i.indnkeyatts ORDER BY a.attnum) \
           FROM pg_catalog.pg_class AS c LEFT JOIN pg_catalog.pg_index AS i ON i.indrelid = c.oid \
           JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace \
           WHERE quote_ident(CAST(n.nspname AS TEXT)) || '.' || quote_ident(CAST(c.relname AS TEXT)) = $1",
    types: &[Type::TEXT],
};

pub(crate) async fn check(views: &Views) -> Result<Vec<ViewAdvice>, StorageError> {
    let connection = views.connection().await?;
    let view = format!("{}.{COURSES}", quoted(&views.schema));
    let largest = format!(
        "SELECT a, min(s) FROM (SELECT CAST(account_id AS TEXT) AS a, CAST(slug AS TEXT) AS s FROM {view} LIMIT 100000) \
         AS c WHERE a IS NOT NULL AND s IS NOT NULL GROUP BY a ORDER BY count(*) DESC LIMIT 1"
    );
    connection.run(BEGIN).await?;
    let found = ask(&connection, &largest).await?;
    connection.run("ROLLBACK").await?;
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
    let (mut usual, mut tables) = (Vec::new(), BTreeSet::new());
    for (about, sql, bound) in asked {
        let plan = explain(&connection, Sorting::AsUsual, &sql, bound).await?;
        tables.extend(plan.tables().cloned());
        if about.ends_with("page") && plan.sorts() || plan.computes_all(&values) || !plan.scans(&values).is_empty() {
            usual.push((about, sql, bound, plan));
        }
    }
    let order = order(&connection, &view, &views.columns).await?;
    let mut advice: Vec<ViewAdvice> = Vec::new();
    for table in tables {
        let (_, Rows { count, is_analyzed }) = indexed(&connection, &table, &[]).await?;
        if count > SMALL && !is_analyzed {
            let (what, remedy) =
                ("it has no statistics, so that plans are guesses".to_owned(), format!("ANALYZE {table}"));
            advice.push(ViewAdvice { about: table, what, remedy: Some(remedy) });
        }
    }
    for (about, sql, bound, used) in usual {
        let plan = explain(&connection, Sorting::Avoided, &sql, bound).await?;
        let mut found = judge(&connection, about, &plan, &values, order.as_ref()).await?;
        if found.is_empty() {
            found = judge_used(&connection, about, &used, &values).await?;
        }
        for found in found {
            // Once for all statements that want the same.
            let is_same = |other: &ViewAdvice| {
                other.remedy == found.remedy && (found.remedy.is_some() || other.what == found.what)
            };
            if !advice.iter().any(is_same) {
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
    values: &[String],
    order: Option<&(String, Vec<String>)>,
) -> Result<Vec<ViewAdvice>, StorageError> {
    let advice = |what: String, remedy| ViewAdvice { about: about.to_owned(), what, remedy };
    let is_page = about.ends_with("page");
    let (mut found, mut is_ordered) = (Vec::new(), !is_page || !plan.sorts());
    for Scan { table, reads_all, compared } in plan.scans(values) {
        if is_page && order.is_some_and(|(ordered, _)| *ordered == table) && (!reads_all || !is_ordered) {
            is_ordered = false;
            continue;
        }
        let (indexed, _) = indexed(connection, &table, &compared).await?;
        if plan.computes_all(values) && compared.is_empty() || indexed == Indexed::Small {
            continue;
        }
        let remedy = (indexed == Indexed::No && !compared.is_empty()).then(|| index(&table, &compared, ""));
        found.push(advice(does(&table, reads_all), remedy));
    }
    if plan.computes_all(values) {
        let what = "it computes a part of a view for all accounts; let a window function be partitioned, and a group be made, \
                    by the account and the slug";
        found.push(advice(what.to_owned(), None));
    }
    if is_ordered {
        return Ok(found);
    }
    let why = "it sorts, or reads more rows than it shows";
    let of_no_table = "`account_id`, `created_at` and `slug` are not columns of one table, so no index has all three, and each \
                       page reads and sorts all courses of the account; put the account into the courses' table, or make \
                       catalogue_courses a table or materialised view that your program keeps";
    let zoned = "`created_at` is cast to a time with a zone, which no index can have; leave the cast out of the view, as a \
                 timestamp is read as UTC";
    match order {
        None => found.push(advice(format!("{why}: {of_no_table}"), None)),
        Some((_, columns)) if columns.iter().any(|column| column.contains("::timestamp with time zone")) => {
            found.push(advice(format!("{why}: {zoned}"), None));
        }
        Some((table, columns)) if indexed(connection, table, columns).await?.0 != Indexed::Small => {
            found.push(advice(why.to_owned(), Some(index(table, columns, " COLLATE \"C\""))));
        }
        Some(_) => {}
    }
    Ok(found)
}

/// Judges the plan that the database uses, for tables that are not small.
async fn judge_used(
    connection: &Connection,
    about: &str,
    used: &Plan,
    values: &[String],
) -> Result<Vec<ViewAdvice>, StorageError> {
    let mut found = Vec::new();
    for Scan { table, reads_all, compared } in used.scans(values) {
        let (indexed, Rows { count, .. }) = indexed(connection, &table, &compared).await?;
        if indexed == Indexed::No && count > SMALL && !compared.is_empty() {
            let (about, what, remedy) = (about.to_owned(), does(&table, reads_all), index(&table, &compared, ""));
            found.push(ViewAdvice { about, what, remedy: Some(remedy) });
        }
    }
    Ok(found)
}

fn does(table: &str, reads_all: bool) -> String {
    let does = if reads_all { "reads all of" } else { "reads more rows than it needs of" };
    format!("it {does} {table}")
}

/// Number of rows of a table.
struct Rows {
    count: f32,
    /// Whether the planner has statistics.
    is_analyzed: bool,
}

/// Whether a table has an index that begins with some columns, or a unique one of some of them.
#[derive(PartialEq, Eq)]
enum Indexed {
    /// One of a small table, which may be read as a whole all the same.
    Small,
    /// One of all rows of another table.
    Large,
    No,
}

async fn indexed(connection: &Connection, table: &str, columns: &[String]) -> Result<(Indexed, Rows), StorageError> {
    let bare = |column: &str| column.replace(['(', ')'], "");
    let wanted: Vec<_> = columns.iter().map(|column| bare(column)).collect();
    let is_wanted = |column: &String| {
        let (column, cast) = column.rsplit_once(' ').unwrap_or((column, ""));
        wanted.iter().any(|wanted| *wanted == bare(column) || *wanted == format!("{}{cast}", bare(column)))
    };
    let (mut found, mut size) = (Indexed::No, Rows { count: 0.0, is_analyzed: true });
    for row in connection.query(&INDEXES, &[&table]).await? {
        size = Rows { count: get(&row, 0)?, is_analyzed: get(&row, 1)? };
        let (is_unique, is_of_all): (Option<bool>, Option<bool>) = (get(&row, 2)?, get(&row, 3)?);
        let has: Vec<String> = get(&row, 4)?;
        let all_wanted = has.iter().take(wanted.len()).all(is_wanted);
        if all_wanted && (has.len() >= wanted.len() || is_unique == Some(true)) && !has.is_empty() {
            match (size.count <= SMALL, is_of_all) {
                (true, _) => return Ok((Indexed::Small, size)),
                (false, Some(true)) => found = Indexed::Large,
                _ => {}
            }
        }
    }
    Ok((found, size))
}

/// The statement that makes an index of those columns, or expressions.
fn index(table: &str, columns: &[String], collation: &str) -> String {
    let is_column = |text: &str| text.starts_with('"') || text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let element = |text: &String| if is_column(text) { text.clone() } else { format!("({text})") };
    let elements: Vec<_> = columns.iter().map(element).collect();
    format!("CREATE INDEX ON {table} ({}{collation})", elements.join(", "))
}

/// Whether a plan may sort, and read whole tables, where that seems cheaper.
#[derive(PartialEq, Eq)]
enum Sorting {
    AsUsual,
    Avoided,
}

async fn explain(
    connection: &Connection,
    sorting: Sorting,
    sql: &Sql<'_>,
    values: Values<'_>,
) -> Result<Plan, StorageError> {
    connection.run(BEGIN).await?;
    if sorting == Sorting::Avoided {
        ask(connection, AVOID).await?;
    }
    let text = format!("EXPLAIN (VERBOSE) {}", sql.text);
    let rows = connection.query(&Sql { text: &text, types: sql.types }, values).await?;
    connection.run("ROLLBACK").await?;
    let lines: Vec<&str> = rows.iter().map(|row| get(row, 0)).collect::<Result<_, _>>()?;
    Ok(Plan::parse(&lines))
}

/// The table whose columns the pages are ordered by, and those: the account where it is no constant, time and slug.
async fn order(
    connection: &Connection,
    view: &str,
    columns: &Columns,
) -> Result<Option<(String, Vec<String>)>, StorageError> {
    let key = |column| match columns.is_text(COURSES, column) {
        true => column.to_owned(),
        false => format!("CAST({column} AS TEXT)"),
    };
    // Columns have the name of their table before them where more than it is named.
    let text = format!("SELECT {}, created_at, {} FROM (SELECT * FROM {view}) AS c", key("account_id"), key("slug"));
    let plan = explain(connection, Sorting::Avoided, &Sql { text: &text, types: &[] }, &[]).await?;
    Ok(plan.source().map(|(table, columns)| (table.to_owned(), columns)))
}

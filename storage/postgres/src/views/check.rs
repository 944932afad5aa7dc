//! [`check`]: whether the API could serve each row of the views, or of a sample.

use catalogue_core::storage::{CheckedRows, CourseRows, Limit, StorageError, ViewFault};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::Views;
use super::columns::{ACCOUNTS, COURSES, Columns, MODULES, REVISIONS};
use super::rows::{ViewRow, fault, push_course};
use crate::connection::{Connection, Sql};
use crate::error::{cause, code};
use crate::options::quoted;
use crate::rows::{self, get};

/// Some rows at a time.
const FETCH: Sql = Sql { text: "FETCH 1000 FROM checked", types: &[] };

const SAMPLE: usize = 10_000;
/// How many faults of one kind are shown.
const SHOWN: usize = 100;

/// What the API could not serve. Rows are looked at where all columns can be read.
pub(crate) async fn check(views: &Views, rows: CheckedRows) -> Result<Vec<ViewFault>, StorageError> {
    let connection = views.connection().await?;
    let (columns, mut faults) = Columns::look(&connection, &views.schema).await?;
    if !faults.is_empty() {
        return Ok(faults);
    }
    let limit = match rows {
        CheckedRows::Sample => format!(" LIMIT {SAMPLE}"),
        CheckedRows::All => String::new(),
    };
    let source = |view| format!("{}.{view}", quoted(&views.schema));
    for view in [ACCOUNTS, COURSES, MODULES, REVISIONS] {
        if view == REVISIONS && !columns.has_revisions() {
            continue;
        }
        connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
        let mut checked = check_view(&connection, view, &source(view), &columns, &limit).await;
        connection.run("ROLLBACK").await?;
        // What reads both views is asked where neither fails, and locks them in the order in which they are made again.
        let is_sound = checked.is_ok() && faults.iter().all(|fault: &ViewFault| fault.key.is_some());
        if view == MODULES && columns.has_module_count() && is_sound {
            let counted = counts(&connection, &source(COURSES), &source(MODULES), &limit).await;
            checked = counted.and_then(|counted| Ok([checked?, counted].concat()));
        }
        match checked {
            Ok(found) => faults.extend(found),
            // Such as a division by zero, or a function that the role may not call.
            Err(error) if code(&error).is_some_and(|code| ["22", "42"].contains(&&code.code()[..2])) => {
                let cause = cause(&error).unwrap_or_else(|| error.to_string());
                let wanted = "let it answer for each row of its tables".to_owned();
                faults.push(ViewFault { view, key: None, what: format!("it fails: {cause}"), wanted });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(faults)
}

async fn check_view(
    connection: &Connection,
    view: &'static str,
    source: &str,
    columns: &Columns,
    limit: &str,
) -> Result<Vec<ViewFault>, StorageError> {
    let (count, key) = (if columns.has_module_count() { "module_count" } else { "0" }, "CAST(account_id AS TEXT)");
    let read = match view {
        ACCOUNTS => "CAST(id AS TEXT)".to_owned(),
        COURSES => format!(
            "CAST(slug AS TEXT), CAST(title AS TEXT), CAST(language AS TEXT), published_at, hidden, \
             CAST({count} AS BIGINT), created_at, {key}, CAST(tagline AS TEXT)"
        ),
        MODULES => {
            format!(
                "{key}, CAST(course_slug AS TEXT), CAST(number AS BIGINT), CAST(title AS TEXT), CAST(summary AS TEXT)"
            )
        }
        _ => format!("{key}, revision"),
    };
    let mut faults = Vec::new();
    let declare = format!("DECLARE checked NO SCROLL CURSOR FOR SELECT {read} FROM {source}{limit}");
    connection.run(&declare).await?;
    loop {
        let fetched = connection.query(&FETCH, &[]).await?;
        if fetched.is_empty() || faults.len() >= SHOWN {
            break;
        }
        faults.extend(fetched.iter().filter_map(|row| check_row(view, row).err()));
    }
    faults.truncate(SHOWN);
    let (keys, place) = match view {
        COURSES => ([key, "CAST(slug AS TEXT)"], "slug"),
        REVISIONS => ([key, "''"], "account_id"),
        MODULES => {
            faults.extend(numbers(connection, source, limit).await?);
            return Ok(faults);
        }
        _ => return Ok(faults),
    };
    let repeated = format!(
        "SELECT a, s FROM (SELECT {} AS a, {} AS s FROM {source}{limit}) AS r WHERE a IS NOT NULL AND s IS NOT NULL \
         GROUP BY a, s HAVING count(*) > 1 ORDER BY a, s LIMIT {SHOWN}",
        keys[0], keys[1]
    );
    for row in ask(connection, &repeated).await? {
        let what = format!("`{place}` is that of several rows");
        faults.push(fault(view, &[get(&row, 0)?, get(&row, 1)?], what, "each of its account's once"));
    }
    Ok(faults)
}

/// The first fault of a row, as a request would meet it.
fn check_row(view: &'static str, row: &Row) -> Result<(), ViewFault> {
    let (column, name) = match view {
        ACCOUNTS => (0, "id"),
        COURSES => (7, "account_id"),
        _ => (0, "account_id"),
    };
    let key = match view {
        COURSES => row.try_get::<_, Option<&str>>(0),
        MODULES => row.try_get(1),
        _ => Ok(None),
    };
    let slug = key.ok().flatten().unwrap_or_default();
    let account: &str = ViewRow { row, view, account: "", slug }.get(column, name)?;
    let checked = ViewRow { row, view, account, slug };
    match view {
        COURSES => {
            let _ = push_course(account, row, &mut CourseRows::new(Limit::DEFAULT, &mut |_| {}))?;
            checked.get::<&str>(8, "tagline")?;
        }
        MODULES => {
            checked.get::<&str>(1, "course_slug")?;
            checked.get::<i64>(2, "number")?;
            checked.get::<&str>(3, "title")?;
            checked.get::<&str>(4, "summary")?;
        }
        REVISIONS => {
            let wrong = |_| checked.fault("`revision` has another length".to_owned(), "16 bytes");
            rows::revision(row, 1).map_err(wrong)?;
        }
        _ => {}
    }
    Ok(())
}

/// The modules of each course that has one in the sample: all of a course's, for it may be cut.
async fn numbers(connection: &Connection, source: &str, limit: &str) -> Result<Vec<ViewFault>, StorageError> {
    let of_sample = match limit {
        "" => String::new(),
        _ => format!(
            " WHERE (CAST(account_id AS TEXT), CAST(course_slug AS TEXT)) IN \
             (SELECT a, s FROM (SELECT CAST(account_id AS TEXT) AS a, CAST(course_slug AS TEXT) AS s FROM {source}{limit}) AS r)"
        ),
    };
    let wrong = format!(
        "SELECT a, s, min(n), max(n), count(*), count(DISTINCT n) FROM (SELECT CAST(account_id AS TEXT) AS a, \
         CAST(course_slug AS TEXT) AS s, CAST(number AS BIGINT) AS n FROM {source}{of_sample}) AS m \
         WHERE a IS NOT NULL AND s IS NOT NULL AND n IS NOT NULL GROUP BY a, s \
         HAVING min(n) <> 1 OR max(n) <> count(*) OR count(DISTINCT n) <> count(*) ORDER BY a, s LIMIT {SHOWN}"
    );
    let mut faults = Vec::new();
    for row in ask(connection, &wrong).await? {
        let (first, last, count): (i64, i64, i64) = (get(&row, 2)?, get(&row, 3)?, get(&row, 4)?);
        let what = if get::<i64>(&row, 5)? != count {
            "`number` is that of several modules".to_owned()
        } else if first != 1 {
            format!("`number` begins with {first}")
        } else {
            format!("`number` goes up to {last} in {count} modules")
        };
        faults.push(fault(MODULES, &[get(&row, 0)?, get(&row, 1)?], what, "1, 2 and so on in each course"));
    }
    Ok(faults)
}

/// The modules of each course of the sample, whose number the view of courses has too.
async fn counts(
    connection: &Connection,
    courses: &str,
    modules: &str,
    limit: &str,
) -> Result<Vec<ViewFault>, StorageError> {
    let key = |slug| format!("CAST(account_id AS TEXT) COLLATE \"C\" AS a, CAST({slug} AS TEXT) COLLATE \"C\" AS s");
    let wrong = format!(
        "WITH c AS (SELECT {}, CAST(module_count AS BIGINT) AS n FROM {courses}{limit}) \
         SELECT a, s, max(told), count(module) FROM (SELECT a, s, n AS told, CAST(NULL AS BIGINT) AS module FROM c \
         UNION ALL SELECT a, s, NULL, 1 FROM (SELECT {} FROM {modules}) AS m WHERE (a, s) IN (SELECT a, s FROM c)) AS together \
         WHERE a IS NOT NULL AND s IS NOT NULL GROUP BY a, s HAVING max(told) >= 0 AND max(told) <> count(module) \
         ORDER BY a, s LIMIT {SHOWN}",
        key("slug"),
        key("course_slug")
    );
    let mut faults = Vec::new();
    for row in ask(connection, &wrong).await? {
        let (told, has): (i64, i64) = (get(&row, 2)?, get(&row, 3)?);
        let what =
            format!("`module_count` is {told}, and the course has {has} module{}", if has == 1 { "" } else { "s" });
        faults.push(fault(COURSES, &[get(&row, 0)?, get(&row, 1)?], what, "as many as `catalogue_modules` has"));
    }
    Ok(faults)
}

/// Asks a statement without values.
pub(crate) async fn ask(connection: &Connection, text: &str) -> Result<Vec<Row>, StorageError> {
    const NONE: &[Type] = &[];
    connection.query(&Sql { text, types: NONE }, &[]).await
}

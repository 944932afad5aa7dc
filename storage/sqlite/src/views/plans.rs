//! How SQLite would run the statements of the request path, and the indexes that end what is slow.
//!
//! Its plans do not depend on the values that are asked for (`SQLITE_DBCONFIG_ENABLE_QPSG`), so what holds for one account
//! holds for the largest. An index is proposed only where a copy of the schema, without rows, shows that it helps.

use std::cmp::Reverse;

use catalogue_core::storage::ViewAdvice;
use rusqlite::types::Null;
use rusqlite::{Connection, params_from_iter};

use super::base_tables::{Index, View};
use super::read::{ACCOUNTS, COURSES, MODULES};
use super::statements::{FIND_ACCOUNT, FIND_COURSE, FIND_REVISION, Pages, Statements};
use super::tokens::{position, tokens};

/// A view, and by which of its columns statements find rows.
const FOUND_BY: [(&str, &[&str]); 4] = [
    (ACCOUNTS, &["id"]),
    (COURSES, &["account_id", "slug"]),
    (MODULES, &["account_id", "course_slug"]),
    ("catalogue_revisions", &["account_id"]),
];

/// Columns of so many bytes a row are too long for an index: few of its rows would be in a page of the file.
const LONG: f64 = 500.0;

/// What is slow, and what would be quicker.
pub(super) fn check(connection: &Connection, statements: &Statements) -> rusqlite::Result<Vec<ViewAdvice>> {
    let copy = copy_of_schema(connection)?;
    let (candidates, constants) = candidates(connection)?;
    let Pages { first, next } = &statements.pages;
    let mut asked: Vec<(&str, &str)> = vec![("an account", FIND_ACCOUNT)];
    asked.extend(first.iter().map(|sql| ("the first page", sql.as_str())));
    asked.extend(next.iter().map(|sql| ("a later page", sql.as_str())));
    asked.push(("a course", FIND_COURSE));
    asked.push(("the revision", FIND_REVISION));
    let mut advice = Vec::new();
    for (about, sql) in asked {
        // What is not there is told by the check of the views.
        let (Ok(plan), Ok(mut copied)) = (Plan::of(connection, sql, &constants), Plan::of(&copy, sql, &constants))
        else {
            continue;
        };
        let before = advice.len();
        for index in &candidates {
            let with_it = with_index(&copy, &index.with(&[]), || Plan::of(&copy, sql, &constants))?;
            let is_better = |with_it: &Plan| with_it.cost() < copied.cost() && with_it.cost() < plan.cost();
            if let Some(with_it) = with_it.filter(is_better) {
                let index = index.with(&shown_beside(connection, &copy, index, statements, &constants)?);
                copy.execute_batch(&index)?;
                let what = plan.what();
                advice.push(ViewAdvice { about: about.to_owned(), what, remedy: Some(format!("{index};")) });
                copied = with_it;
            }
        }
        // Where the copy is quick, it is with an index that is proposed already.
        let is_told = advice.len() > before || (copied.slow.is_empty() && before > 0);
        if !plan.slow.is_empty() && !is_told {
            let remedy = misleading_index(&copy, &plan, || Plan::of(&copy, sql, &constants))?;
            advice.push(ViewAdvice { about: about.to_owned(), what: plan.what(), remedy });
        }
    }
    Ok(advice)
}

/// How to keep SQLite from an index without which the copy's plan is quick. Statistics of an SQLite without STAT4 have only the
/// mean of an index, so one on what most rows have in common, such as the null of what is not deleted, looks better than it is.
fn misleading_index(
    copy: &Connection,
    plan: &Plan,
    plan_of_copy: impl Fn() -> rusqlite::Result<Plan>,
) -> rusqlite::Result<Option<String>> {
    for (index, column) in &plan.found_by {
        let without = with_index(copy, &format!("DROP INDEX \"{index}\""), &plan_of_copy)?;
        if without.is_some_and(|without| without.slow.is_empty()) {
            return Ok(Some(format!(
                "write `+{column}` for `{column}` in the conditions of the view, so that SQLite does not use `{index}`"
            )));
        }
    }
    Ok(None)
}

/// What `look` finds after a change of indexes, if it can be made.
fn with_index<T>(
    copy: &Connection,
    change: &str,
    look: impl FnOnce() -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    copy.execute_batch("SAVEPOINT one")?;
    let found = copy.execute_batch(change).is_ok().then(look).transpose();
    copy.execute_batch("ROLLBACK TO one; RELEASE one")?;
    found
}

/// The columns that a list's index lacks so that a page reads one range of it and looks no row of the table up: of all
/// columns those without which it would. None where it does so with all of them, or where they are long.
fn shown_beside(
    connection: &Connection,
    copy: &Connection,
    index: &Index,
    statements: &Statements,
    constants: &Constants,
) -> rusqlite::Result<Vec<String>> {
    let Some(table) = &index.lists else { return Ok(Vec::new()) };
    let pages =
        |columns: &[String]| with_index(copy, &index.with(columns), || Plan::of_pages(copy, statements, constants));
    let all_columns = copy.prepare(&format!("SELECT * FROM {table}"))?;
    let mut columns = Vec::new();
    // An iterator in newer versions of rusqlite, and a list in older ones.
    for column in all_columns.column_names() {
        columns.push(format!("\"{}\"", column.replace('"', "\"\"")));
    }
    let (Some(plain), Some(all)) = (pages(&[])?, pages(&columns)?) else { return Ok(Vec::new()) };
    if all.cost() > plain.cost() || all.look_ups >= plain.look_ups {
        return Ok(Vec::new());
    }
    let is_as_good = |pages: Plan| pages.cost() <= plain.cost() && pages.look_ups <= all.look_ups;
    for at in (0..columns.len()).rev() {
        let column = columns.remove(at);
        if !pages(&columns)?.is_some_and(is_as_good) {
            columns.insert(at, column);
        }
    }
    let are_short = mean_length(connection, table, &columns)? <= LONG;
    Ok(if are_short { columns } else { Vec::new() })
}

/// How many bytes those columns of a row have, of the first rows.
fn mean_length(connection: &Connection, table: &str, columns: &[String]) -> rusqlite::Result<f64> {
    let lengths = columns.iter().map(|column| format!("coalesce(length(CAST({column} AS BLOB)), 0)"));
    let length = lengths.collect::<Vec<_>>().join(" + ");
    let sql = format!("SELECT avg({length}) FROM (SELECT * FROM {table} LIMIT 100)");
    Ok(connection.query_row(&sql, [], |row| row.get::<_, Option<f64>>(0))?.unwrap_or_default())
}

/// What the views themselves name, and no row of a table.
#[derive(Default)]
struct Constants {
    /// All accounts.
    accounts: bool,
    /// Tables whose courses are all of one account, by their names in a plan: a page is where their order begins.
    of_one_account: Vec<String>,
}

/// How a statement is run.
struct Plan {
    /// The steps that read more rows than are shown, or sort them.
    slow: Vec<String>,
    /// By how many values rows are found in indexes.
    terms: usize,
    /// The steps that look each row up in its table, after an index.
    look_ups: usize,
    /// The indexes by which rows are found, and the first column of each.
    found_by: Vec<(String, String)>,
}

impl Plan {
    fn of(connection: &Connection, sql: &str, constants: &Constants) -> rusqlite::Result<Self> {
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
        let nothing = vec![Null; statement.parameter_count()];
        let mut rows = statement.query(params_from_iter(nothing))?;
        let mut plan = Self { slow: Vec::new(), terms: 0, look_ups: 0, found_by: Vec::new() };
        while let Some(row) = rows.next()? {
            let step: String = row.get(3)?;
            plan.look_ups += usize::from(step.contains(" USING INDEX "));
            plan.terms += step.matches(['=', '<']).count();
            if let Some((index, columns)) = step.split_once(" INDEX ").and_then(|(_, found)| found.split_once(" (")) {
                let column = columns.split(['=', '<', '>']).next().unwrap_or_default();
                plan.found_by.push((index.to_owned(), column.to_owned()));
            }
            if constants.accounts && step.contains(ACCOUNTS) {
                continue;
            }
            if step.starts_with("USE TEMP B-TREE") {
                plan.slow.push("all courses of the account are read and sorted".to_owned());
            } else if step.contains("AUTOMATIC") {
                plan.slow.push(format!("an index is made for each request ({step})"));
            } else if let Some(table) = step.strip_prefix("SCAN ").and_then(|step| step.split(' ').next())
                && !table.starts_with('(')
                && !step.contains("CONSTANT ROW")
                && !(sql.contains(" ORDER BY ") && constants.of_one_account.iter().any(|of| of == table))
            {
                plan.slow.push(format!("all rows of `{table}` are read"));
            }
        }
        Ok(plan)
    }

    /// Those of all statements for a page, as one.
    fn of_pages(connection: &Connection, statements: &Statements, constants: &Constants) -> rusqlite::Result<Self> {
        let mut all = Self { slow: Vec::new(), terms: 0, look_ups: 0, found_by: Vec::new() };
        for sql in statements.pages.all() {
            let Self { slow, terms, look_ups, .. } = Self::of(connection, sql, constants)?;
            all.slow.extend(slow);
            all.terms += terms;
            all.look_ups += look_ups;
        }
        Ok(all)
    }

    /// Less is better.
    fn cost(&self) -> (usize, Reverse<usize>) {
        (self.slow.len(), Reverse(self.terms))
    }

    fn what(&self) -> String {
        let mut slow: Vec<&str> = Vec::new();
        for step in &self.slow {
            if !slow.contains(&step.as_str()) {
                slow.push(step);
            }
        }
        if slow.is_empty() { "more rows are read than are shown".to_owned() } else { slow.join("; ") }
    }
}

/// Its tables, views and indexes, without rows. What cannot be made anew, such as a table of a module that is not there, is
/// left out.
fn copy_of_schema(connection: &Connection) -> rusqlite::Result<Connection> {
    let copy = Connection::open_in_memory()?;
    let mut statement = connection.prepare("SELECT sql FROM sqlite_schema WHERE type <> 'trigger' ORDER BY rowid")?;
    for sql in statement.query_map([], |row| row.get::<_, Option<String>>(0))? {
        let _ = sql?.map(|sql| copy.execute_batch(&sql));
    }
    Ok(copy)
}

/// The indexes that may help, those for the order of a list first.
fn candidates(connection: &Connection) -> rusqlite::Result<(Vec<Index>, Constants)> {
    let mut statement = connection.prepare("SELECT sql FROM sqlite_schema WHERE name = ?1 AND type = 'view'")?;
    let (mut candidates, mut constants) = (Vec::new(), Constants::default());
    for (view, found_by) in FOUND_BY {
        let mut rows = statement.query([view])?;
        let Some(row) = rows.next()? else { continue };
        let sql: String = row.get(0)?;
        constants.accounts |= view == ACCOUNTS && position(&tokens(&sql), &["from"]).is_none();
        if let Some(parsed) = View::parse(&sql) {
            candidates.extend(parsed.candidates(view, found_by, view == COURSES));
            if view == COURSES {
                constants.of_one_account = parsed.tables_of_one_account();
            }
        }
    }
    Ok((candidates, constants))
}

#[cfg(test)]
mod tests;

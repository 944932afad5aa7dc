//! Decides whether `catalogue_revisions` can be relied on: whether each write to a table behind the views changes it.
//!
//! SQLite itself reports such writes. It compiles triggers into the statement that fires them, and calls the authorizer for
//! each table that the statement and its triggers access. So this module prepares statements that it never runs.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use catalogue_core::storage::views::REVISIONS;
use catalogue_core::storage::{Revision, ViewAdvice};
use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext};

use super::volatility;

/// Meaning of a revision, until the schema changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Basis {
    /// A row of `catalogue_revisions`.
    Row,
    /// The state of the whole file.
    File,
    /// Nothing: the views change without a commit.
    None,
}

/// Result of examining a schema.
#[derive(Clone, Debug)]
pub(super) struct Examined {
    /// SQLite's `schema_version`.
    pub(super) schema: i64,
    pub(super) basis: Basis,
    /// Reasons why `catalogue_revisions` is not relied on, if it exists.
    pub(super) distrust: Vec<ViewAdvice>,
}

/// Tables with their columns.
type TableColumns = BTreeMap<String, BTreeSet<String>>;

/// Tables that a statement and its triggers access.
#[derive(Default)]
struct Accesses {
    read: TableColumns,
    /// Tables that triggers write to.
    written: BTreeSet<String>,
}

thread_local! {
    /// Accesses of the statement that this thread prepares in [`accesses`].
    static RECORDED: RefCell<Option<Accesses>> = const { RefCell::new(None) };
}

/// Records an access for [`accesses`]. Returns `true` while this thread records.
pub(crate) fn record(context: &AuthContext<'_>) -> bool {
    RECORDED.with_borrow_mut(|recorded| {
        let Some(Accesses { read, written }) = recorded else { return false };
        match context.action {
            AuthAction::Read { table_name, column_name } => {
                read.entry(table_name.to_owned()).or_default().insert(column_name.to_owned());
            }
            AuthAction::Insert { table_name }
            | AuthAction::Update { table_name, .. }
            | AuthAction::Delete { table_name }
                if context.accessor.is_some() =>
            {
                written.insert(table_name.to_owned());
            }
            _ => {}
        }
        true
    })
}

/// Returns what a statement would access, without running it.
fn accesses(connection: &Connection, sql: &str) -> rusqlite::Result<Accesses> {
    RECORDED.set(Some(Accesses::default()));
    let prepared = connection.prepare(sql).map(drop);
    let accesses = RECORDED.take().unwrap_or_default();
    prepared.map(|()| accesses)
}

/// Returns the schema's version, which each change of a table, view or trigger replaces.
pub(super) fn schema_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("PRAGMA schema_version")?.query_row([], |row| row.get(0))
}

/// Examines the schema of a connection whose authorizer calls [`record`].
pub(super) fn examine(connection: &Connection) -> rusqlite::Result<Examined> {
    let transaction = connection.unchecked_transaction()?;
    // Preparing a statement does not notice that another program has changed the schema; running one does.
    transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    let schema = schema_version(&transaction)?;
    let exists = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'catalogue_revisions' COLLATE NOCASE)";
    let has_revisions = transaction.query_row(exists, [], |row| row.get(0))?;
    let distrust = if has_revisions { distrust(&transaction)? } else { Vec::new() };
    let basis = if volatility::is_volatile(&transaction)? {
        Basis::None
    } else if has_revisions && distrust.is_empty() {
        Basis::Row
    } else {
        Basis::File
    };
    Ok(Examined { schema, basis, distrust })
}

/// Returns advice for each table behind the views whose changes `catalogue_revisions` does not follow.
fn distrust(connection: &Connection) -> rusqlite::Result<Vec<ViewAdvice>> {
    let advice = |reason: String| ViewAdvice {
        subject: REVISIONS.to_owned(),
        finding: format!("not used, so responses are cached until anything in the file changes: {reason}"),
        fix: Some("create the triggers again, such as by running your whole revisions.sqlite.sql".to_owned()),
    };
    let mut base = TableColumns::new();
    for sql in ["SELECT * FROM catalogue_courses", "SELECT * FROM catalogue_modules"] {
        let tables = match base_tables(connection, sql) {
            Ok(tables) => tables,
            Err(error) => return Ok(vec![advice(format!("a view cannot be read: {error}"))]),
        };
        for (table, columns) in tables {
            base.entry(table).or_default().extend(columns);
        }
    }
    let revisions = match base_tables(connection, "SELECT account_id, revision FROM catalogue_revisions") {
        Ok(tables) => tables.into_keys().collect(),
        Err(error) => return Ok(vec![advice(format!("it cannot be read: {error}"))]),
    };
    let mut distrust = Vec::new();
    for (table, columns) in &base {
        let missing = events_without_trigger(connection, table, columns, &revisions)?;
        if !missing.is_empty() {
            let (events, revisions) =
                (missing.join(", "), Vec::from_iter(revisions.iter().map(String::as_str)).join("` or `"));
            distrust.push(advice(format!("table `{table}` has no trigger for {events} that writes to `{revisions}`")));
        }
    }
    Ok(distrust)
}

/// Returns the tables that a statement reads, directly or through views.
fn base_tables(connection: &Connection, sql: &str) -> rusqlite::Result<TableColumns> {
    let mut tables = accesses(connection, sql)?.read;
    let mut is_table =
        connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1)")?;
    let mut outcome = Ok(());
    tables.retain(|table, _| {
        is_table.query_row([table], |row| row.get(0)).unwrap_or_else(|error| {
            outcome = Err(error);
            false
        })
    });
    outcome.map(|()| tables)
}

/// Returns the events of `table` for which no trigger writes to one of `revisions`. Only updates of `columns` matter.
fn events_without_trigger(
    connection: &Connection,
    table: &str,
    columns: &BTreeSet<String>,
    revisions: &BTreeSet<String>,
) -> rusqlite::Result<Vec<String>> {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let writes_revisions = |sql: &str| accesses(connection, sql).map(|found| !found.written.is_disjoint(revisions));
    let update = |column: &String| {
        let column = quoted(column);
        writes_revisions(&format!("UPDATE {} SET {column} = {column}", quoted(table)))
    };
    let is_generated =
        |column: &String| update(column).is_err_and(|error| error.to_string().contains("generated column"));
    // SQLite reports an empty name if the statement uses no column of the table, such as for `count(*)`.
    let mut columns: Vec<String> = columns.iter().filter(|column| !column.is_empty()).cloned().collect();
    if columns.iter().any(is_generated) {
        let all = connection.prepare(&format!("SELECT * FROM {}", quoted(table)))?;
        columns.clear();
        // `column_names` returns an iterator in newer versions of rusqlite, and a list in older ones.
        for column in all.column_names() {
            columns.push(column.to_owned());
        }
        columns.retain(|column| !is_generated(column));
    }
    let mut missing = Vec::new();
    if !writes_revisions(&format!("INSERT INTO {} DEFAULT VALUES", quoted(table))).unwrap_or(false) {
        missing.push("INSERT".to_owned());
    }
    let updated = columns.len();
    columns.retain(|column| !update(column).unwrap_or(false));
    if columns.len() == updated && updated > 0 {
        missing.push("UPDATE".to_owned());
    } else if !columns.is_empty() {
        missing.push(format!("UPDATE OF {}", columns.join(", ")));
    }
    if !writes_revisions(&format!("DELETE FROM {}", quoted(table))).unwrap_or(false) {
        missing.push("DELETE".to_owned());
    }
    Ok(missing)
}

/// Returns the revision for `row` under version `schema` of the schema. It differs under each version: while triggers were
/// missing, content may have changed without the row. Versions only grow.
pub(super) fn at_schema(schema: i64, row: Revision) -> Revision {
    /// So large that no two rows differ by a multiple of it, neither random ones nor counters.
    const SCHEMA_STRIDE: u128 = 0xa7c9_3b1e_58d4_f602_9e37_79b9_7f4a_7c15;

    let row = u128::from_be_bytes(*row.as_bytes());
    Revision::from_bytes(row.wrapping_add(SCHEMA_STRIDE.wrapping_mul(schema as u128)).to_be_bytes())
}

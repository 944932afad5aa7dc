//! Checks that the views and their columns exist.

use catalogue_core::storage::views::{Kind, OPTIONAL_COLUMNS, REVISIONS, VIEWS, ViewProblem};
use rusqlite::Connection;

/// Returns the valid values of a column of `kind`.
fn valid_values(kind: Kind) -> &'static str {
    match kind {
        Kind::Account => "text or integer, not null",
        Kind::Text => "text",
        Kind::Time => "integer of microseconds, or a UTC time as text",
        Kind::Boolean => "0 or 1",
        Kind::Integer => "integer",
        Kind::Revision => "16 bytes, or a UUID as text",
    }
}

/// Returns the complete views, and the problems of the others. The view of revisions may be missing.
pub(super) fn complete_views(connection: &Connection) -> (Vec<&'static str>, Vec<ViewProblem>) {
    let (mut complete, mut problems) = (Vec::new(), Vec::new());
    for (view, columns) in VIEWS {
        let columns = columns.iter().filter(|(name, _)| !OPTIONAL_COLUMNS.contains(name));
        let names: Vec<&str> = columns.clone().map(|(name, _)| *name).collect();
        let before = problems.len();
        if let Err(error) = connection.prepare(&format!("SELECT 1 FROM {view}")) {
            if view == REVISIONS && error.to_string().contains("no such table: catalogue_revisions") {
                continue;
            }
            let expected = format!("create it with the columns {}", names.join(", "));
            problems.push(ViewProblem { view, key: None, problem: format!("it cannot be read: {error}"), expected });
        } else {
            problems.extend(
                columns.filter_map(|(column, kind)| column_problem(connection, view, column, valid_values(*kind))),
            );
        }
        if problems.len() == before {
            complete.push(view);
        }
    }
    (complete, problems)
}

fn column_problem(connection: &Connection, view: &'static str, column: &str, expected: &str) -> Option<ViewProblem> {
    let error = connection.prepare(&format!("SELECT {column} FROM {view}")).err()?;
    let problem = if error.to_string().contains("no such column") {
        format!("it has no column `{column}`")
    } else {
        format!("its column `{column}` cannot be read: {error}")
    };
    Some(ViewProblem { view, key: None, problem, expected: format!("`{column}`: {expected}") })
}

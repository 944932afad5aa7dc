//! Checks that the views and their columns exist.

use catalogue_core::storage::views::{Kind, MODULE_COUNT, REVISIONS, VIEWS, ViewFault};
use rusqlite::Connection;

/// Returns the valid values of a column of `kind`.
fn noun(kind: Kind) -> &'static str {
    match kind {
        Kind::Account => "text or integer, not null",
        Kind::Slug | Kind::Text => "text",
        Kind::Time => "integer of microseconds, or text of a time in UTC",
        Kind::Boolean => "0 or 1",
        Kind::Integer => "integer",
        Kind::Revision => "16 bytes, or a UUID as text",
    }
}

/// Returns the complete views, and the problems of the others. The view of revisions may be missing.
pub(super) fn whole_views(connection: &Connection) -> (Vec<&'static str>, Vec<ViewFault>) {
    let (mut whole, mut faults) = (Vec::new(), Vec::new());
    for (view, columns) in VIEWS {
        let columns = columns.iter().filter(|(name, _)| *name != MODULE_COUNT);
        let names: Vec<&str> = columns.clone().map(|(name, _)| *name).collect();
        let before = faults.len();
        if let Err(error) = connection.prepare(&format!("SELECT 1 FROM {view}")) {
            if view == REVISIONS && error.to_string().contains("no such table: catalogue_revisions") {
                continue;
            }
            let wanted = format!("make it with the columns {}", names.join(", "));
            faults.push(ViewFault { view, key: None, what: format!("it cannot be read: {error}"), wanted });
        } else {
            faults.extend(columns.filter_map(|(column, kind)| missing(connection, view, column, noun(*kind))));
        }
        if faults.len() == before {
            whole.push(view);
        }
    }
    (whole, faults)
}

fn missing(connection: &Connection, view: &'static str, column: &str, wanted: &str) -> Option<ViewFault> {
    let error = connection.prepare(&format!("SELECT {column} FROM {view}")).err()?;
    let what = if error.to_string().contains("no such column") {
        format!("it has no column `{column}`")
    } else {
        format!("its column `{column}` cannot be read: {error}")
    };
    Some(ViewFault { view, key: None, what, wanted: format!("`{column}`: {wanted}") })
}

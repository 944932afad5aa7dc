//! Whether the views and their columns are there.

use catalogue_core::storage::ViewFault;
use rusqlite::Connection;

use super::read::{ACCOUNTS, COURSES, MODULES, REVISIONS};

/// A view, and its columns with what they hold.
type View = (&'static str, &'static [(&'static str, &'static str)]);

const TIME: &str = "integer of microseconds, or text of a time in UTC";

const VIEWS: [View; 4] = [
    (ACCOUNTS, &[("id", "text, not null")]),
    (
        COURSES,
        &[
            ("account_id", "text, not null"),
            ("slug", "text, not null"),
            ("title", "text, not null"),
            ("tagline", "text, not null"),
            ("language", "text, not null"),
            ("created_at", TIME),
            ("published_at", TIME),
            ("hidden", "0 or 1"),
            ("access_mode", "text or null"),
        ],
    ),
    (
        MODULES,
        &[
            ("account_id", "text, not null"),
            ("course_slug", "text, not null"),
            ("number", "integer from 1"),
            ("title", "text, not null"),
            ("summary", "text, not null"),
        ],
    ),
    (REVISIONS, &[("account_id", "text, not null"), ("revision", "16 bytes, or a UUID as text")]),
];

/// The views that lack nothing, and what the others lack. There may be no view of revisions.
pub(super) fn whole_views(connection: &Connection) -> (Vec<&'static str>, Vec<ViewFault>) {
    let (mut whole, mut faults) = (Vec::new(), Vec::new());
    for (view, columns) in VIEWS {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let before = faults.len();
        if let Err(error) = connection.prepare(&format!("SELECT 1 FROM {view}")) {
            if view == REVISIONS && error.to_string().contains("no such table: catalogue_revisions") {
                continue;
            }
            let wanted = format!("make it with the columns {}", names.join(", "));
            faults.push(ViewFault { view, key: None, what: format!("it cannot be read: {error}"), wanted });
        } else {
            faults.extend(columns.iter().filter_map(|(column, wanted)| missing(connection, view, column, wanted)));
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

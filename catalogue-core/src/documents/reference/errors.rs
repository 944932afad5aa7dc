//! Tables of the error codes and their details.

use super::block::{Block, code};
use crate::documents::examples::{self, ExampleResponse};
use crate::error::ErrorCode;

pub(super) fn codes() -> Block {
    let row =
        |&error: &ErrorCode| vec![code(error.as_str()), error.status().as_str().to_owned(), error.meaning().to_owned()];
    Block::Table {
        head: &["Code", "Status", "Meaning"],
        rows: ErrorCode::ALL.iter().map(row).collect(),
        ids: ErrorCode::ALL.iter().map(|&error| error_id(error)).collect(),
    }
}

/// Returns the details of every error, folded on the page.
pub(super) fn details() -> Block {
    let mut failures = examples::all_failures();
    failures.retain(|example| example.details().is_some());
    let ids = failures.iter().map(details_id).collect();
    let rows = failures.iter().map(details_row).collect();
    let table = Block::Table { head: &["Code", "Details"], rows, ids };
    Block::Folded("All values of `error.details`, which are for programs".to_owned(), Box::new(table))
}

/// Returns the anchor of the row of a code.
pub(super) fn error_id(error: ErrorCode) -> String {
    format!("error-{}", error.as_str().replace('_', "-"))
}

/// Returns the anchor of the row of a reason; empty if the row has only the code.
fn details_id(example: &ExampleResponse) -> String {
    let reason = example.code.filter(|code| code.as_str() != example.name());
    reason.map(|code| format!("{}-{}", error_id(code), example.name().replace('_', "-"))).unwrap_or_default()
}

fn details_row(example: &ExampleResponse) -> Vec<String> {
    let name = example.code.map(ErrorCode::as_str).unwrap_or_default();
    // On one line, with spaces where it may wrap.
    let details = example.details().map(|details| format!("{details:#}")).unwrap_or_default();
    vec![code(name), code(&details.lines().map(str::trim_start).collect::<Vec<_>>().join(" "))]
}

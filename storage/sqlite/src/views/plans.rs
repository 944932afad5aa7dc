//! Finds requests over views for which SQLite scans or sorts, and the indexes that prevent it.
//!
//! SQLite's plans do not depend on the values of parameters (`SQLITE_DBCONFIG_ENABLE_QPSG`), so the plan for any account is
//! also the plan for the largest one.

use catalogue_core::storage::ViewAdvice;
use rusqlite::Connection;

use super::instant::instant;
use super::statements::{FIND_COURSE, FIND_REVISION, Statements};
use crate::plan::steps;

/// Advised indexes, a constant for each kind of request. `<…>` stands for a table or column behind a view.
const ACCOUNT: &str = "CREATE INDEX … ON <table behind catalogue_accounts> (<id>)";
const PAGE: &str = concat!(
    "CREATE INDEX … ON <table behind catalogue_courses> (<account_id>, ",
    instant!("<created_at>"),
    ", <slug> COLLATE BINARY)"
);
const COURSE: &str = "CREATE INDEX … ON <table behind catalogue_courses> (<account_id>, <slug> COLLATE BINARY); \
     CREATE INDEX … ON <table behind catalogue_modules> (<reference to its course>)";
const REVISION: &str = "CREATE INDEX … ON <table behind catalogue_revisions> (<account_id>)";

/// Returns advice for each request whose plan scans or sorts.
pub(super) fn check(connection: &Connection, statements: &Statements) -> rusqlite::Result<Vec<ViewAdvice>> {
    // `check_views` reports a view that cannot be read.
    let has_at_most_one_account = "SELECT count(*) < 2 FROM (SELECT 1 FROM catalogue_accounts LIMIT 2)";
    let has_at_most_one_account = connection.query_row(has_at_most_one_account, [], |row| row.get(0)).unwrap_or(false);
    let mut requests = vec![("an account", statements.find_account, ACCOUNT)];
    requests.extend(statements.pages.first.iter().map(|sql| ("the first page", sql.as_str(), PAGE)));
    requests.extend(statements.pages.next.iter().map(|sql| ("a later page", sql.as_str(), PAGE)));
    requests.extend([("a course", FIND_COURSE, COURSE), ("the revision", FIND_REVISION, REVISION)]);
    let mut advice: Vec<ViewAdvice> = Vec::new();
    for (subject, sql, index) in requests {
        let Ok(steps) = steps(connection, sql) else { continue };
        let sorts = steps.iter().any(|step| step.starts_with("USE TEMP B-TREE"));
        // With one account, a scan reads one row of accounts or revisions, or rows in list order until the page ends.
        let scans = steps.iter().any(|step| is_scan(step)) && !(has_at_most_one_account && subject != "a course");
        let does = match (scans, sorts) {
            (true, true) => "scans and sorts",
            (true, false) => "scans",
            (false, true) => "sorts",
            (false, false) => continue,
        };
        if advice.last().is_some_and(|last| last.subject == subject) {
            continue;
        }
        let mut relevant: Vec<&str> = Vec::new();
        for step in steps.iter().filter(|step| ["SCAN", "SEARCH", "USE"].iter().any(|kind| step.starts_with(kind))) {
            if !relevant.contains(&step.as_str()) {
                relevant.push(step);
            }
        }
        let finding = format!("SQLite {does}: {}", relevant.join(", "));
        advice.push(ViewAdvice { subject: subject.to_owned(), finding, fix: Some(index.to_owned()) });
    }
    Ok(advice)
}

/// Returns whether a step reads all rows of a table, or of an index that SQLite creates for each request.
fn is_scan(step: &str) -> bool {
    let is_table = step.starts_with("SCAN ") && !step.starts_with("SCAN (") && !step.contains(" CONSTANT ROW");
    is_table || step.contains("AUTOMATIC")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str) -> String {
        std::fs::read_to_string(format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
    }

    #[test]
    fn example_view_pages_read_one_index_range() {
        for framework in ["django", "rails", "laravel"] {
            let connection = Connection::open_in_memory().unwrap();
            crate::row_buffer::register(&connection).unwrap();
            let views = format!("frontends/server/src/cli/views/{framework}.sqlite.sql");
            for path in [format!("examples/own_tables/{framework}/tables.sqlite.sql"), views] {
                connection.execute_batch(&read(&path)).unwrap();
            }
            for statistics in ["", "ANALYZE"] {
                connection.execute_batch(statistics).unwrap();
                let statements = Statements::of(&connection);
                assert_eq!(check(&connection, &statements).unwrap(), [], "{framework}");
                let buffered = statements.buffered_pages.expect("ordered rows are buffered");
                for sql in statements.pages.all().chain(buffered.all()) {
                    let steps = steps(&connection, sql).unwrap();
                    let mut course_steps = steps.iter().filter(|step| step.contains(" c "));
                    let is_covered = |step: &String| step.starts_with("SEARCH c USING COVERING INDEX catalogue_list");
                    assert!(course_steps.all(is_covered), "{framework}: {steps:#?}");
                }
            }
        }
    }
}

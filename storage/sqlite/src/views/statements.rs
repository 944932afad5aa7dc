//! The statements over the views. Texts are compared byte by byte, whatever the columns' collations. An account may be a
//! number: its column then compares as a number, to which `012` is 12, so each row includes its account for
//! [`Owner`](catalogue_core::storage::views::Owner) to compare.

use rusqlite::Connection;

use super::instant::instant;
use crate::plan::steps;

pub(super) fn has_module_count(connection: &Connection) -> bool {
    connection.prepare("SELECT module_count FROM catalogue_courses").is_ok()
}

/// Position of the instant after a page's columns. [`IS_MODULE`]: position of the flag for modules in the rows of a detail.
pub(super) const INSTANT: usize = 8;
pub(super) const IS_MODULE: usize = 8;

/// Condition that a column is the caller's account. The cast makes a numeric expression compare as text; a numeric column
/// still compares as a number, with its index.
macro_rules! has_account {
    ($column:literal) => {
        concat!($column, " = CAST(?1 AS TEXT) COLLATE BINARY")
    };
}

/// 1 if the views name the account, else null. SQLite might turn an `EXISTS` into a join, and put it before the ordered table.
macro_rules! is_known {
    () => {
        concat!(
            "(SELECT 1 FROM catalogue_accounts WHERE ",
            has_account!("id"),
            " AND CAST(id AS TEXT) = ?1 COLLATE BINARY LIMIT 1)"
        )
    };
}

/// Condition that a row is of the account and that the views name it: a course may outlast its account's row.
macro_rules! is_of_known_account {
    () => {
        concat!(has_account!("account_id"), " AND ", is_known!())
    };
}

/// Number of modules of a course, for a view without `module_count`.
const COUNT_MODULES: &str = concat!(
    "(SELECT count(*) FROM catalogue_modules AS m WHERE ",
    has_account!("m.account_id"),
    " AND m.course_slug = c.slug COLLATE BINARY)"
);

/// Returns the columns of a page, in reverse order of most tables: SQLite decodes a record's header up to the requested
/// column, so it decodes it only once if the last column is read first.
pub(super) fn course_columns(module_count: &str) -> String {
    let instant = instant!("created_at");
    format!("{module_count}, hidden, published_at, created_at, language, title, slug, account_id, {instant}")
}

/// Orders by instant, newest first.
const NEWEST_FIRST: &str = concat!(instant!("created_at"), " DESC, ");

/// Returns the order of a page. Whether the account is known is part of the limit, so it is looked up once, not for each row.
fn newest_first(order: &str, only: &str) -> String {
    let is_known = is_known!();
    format!(" ORDER BY {order}slug COLLATE BINARY DESC LIMIT ?2 * coalesce({is_known}{only}, 0)")
}

/// Account, text columns and times of the course, then its modules in any order; no rows if the account is unknown. The last
/// column is 1 for modules.
pub(super) const FIND_COURSE: &str = concat!(
    "SELECT account_id, slug, title, tagline, language, published_at, hidden, access_mode, 0 FROM catalogue_courses \
     WHERE slug = ?2 COLLATE BINARY AND ",
    is_of_known_account!(),
    " UNION ALL SELECT account_id, course_slug, title, summary, number, NULL, NULL, NULL, 1 FROM catalogue_modules \
     WHERE course_slug = ?2 COLLATE BINARY AND ",
    is_of_known_account!()
);

/// No rows for an account that the views no longer name: its courses disappear without a change of its revision.
pub(super) const FIND_REVISION: &str =
    concat!("SELECT account_id, revision FROM catalogue_revisions WHERE ", is_of_known_account!(), " LIMIT 2");

/// The account's id; no row if the views do not name it.
pub(super) const FIND_ACCOUNT: &str = concat!("SELECT ?1 WHERE ", is_known!());

pub(super) const ALL_ACCOUNTS: &str = "SELECT id FROM catalogue_accounts ORDER BY CAST(id AS TEXT) COLLATE BINARY";

pub(super) const COUNT_COURSES: &str = concat!(
    "SELECT count(*) FROM catalogue_courses WHERE ",
    has_account!("account_id"),
    " AND CAST(account_id AS TEXT) = ?1 COLLATE BINARY"
);

/// Statements that depend on which columns the views have.
pub(super) struct Statements {
    pub(super) has_module_count: bool,
    pub(super) pages: Pages,
    /// The pages with rows in a buffer; `None` if SQLite sorts them: it might buffer all courses before it knows the first.
    pub(super) buffered_pages: Option<Pages>,
}

/// Statements for a page. A later page has two: the usual one, and one that runs if the first returns no rows.
pub(super) struct Pages {
    pub(super) first: [String; 1],
    pub(super) next: [String; 2],
}

impl Statements {
    /// Creates the statements for the views' current columns. A missing view is reported when it is read.
    pub(super) fn of(connection: &Connection) -> Self {
        let has_module_count = has_module_count(connection);
        let columns = course_columns(if has_module_count { "module_count" } else { COUNT_MODULES });
        let pages = Pages::of(&columns);
        let is_sorted = pages.all().any(|sql| is_sorted(connection, sql).unwrap_or(true));
        let buffered_pages = (!is_sorted).then(|| Pages::of(&format!("catalogue_row({columns})")));
        Self { has_module_count, pages, buffered_pages }
    }
}

impl Pages {
    fn of(columns: &str) -> Self {
        let courses = format!("SELECT {columns} FROM catalogue_courses AS c WHERE {}", has_account!("account_id"));
        Self {
            first: [format!("{courses}{}", newest_first(NEWEST_FIRST, ""))],
            next: [next_page(&courses), next_of_instant(&courses)],
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &String> {
        self.first.iter().chain(&self.next)
    }
}

/// Returns `true` if SQLite reads all rows of an account before it returns the first one.
fn is_sorted(connection: &Connection, sql: &str) -> rusqlite::Result<bool> {
    Ok(steps(connection, sql)?.iter().any(|step| step.starts_with("USE TEMP B-TREE")))
}

/// Returns the usual statement for a later page. It returns no rows if more than 20 courses of the cursor's instant come before
/// the cursor, which is checked once, with the account; fewer are skipped by number, so that no row is compared with the
/// cursor. One `SELECT`, since rows of a compound one are copied text by text. A course without a slug comes last in its
/// instant: it cannot be served or skipped.
fn next_page(columns: &str) -> String {
    let instant = instant!("created_at");
    let before = format!(
        "FROM catalogue_courses WHERE {} AND {instant} = ?3 AND slug >= ?4 COLLATE BINARY",
        has_account!("account_id")
    );
    let are_few = format!(" AND (SELECT 1 {before} LIMIT 1 OFFSET 20) IS NULL");
    let order = newest_first(NEWEST_FIRST, &are_few);
    format!("{columns} AND {instant} <= ?3{order} OFFSET (SELECT count(*) {before})")
}

/// Returns the statement for any later page: the rest of the cursor's instant, then courses without a slug, which cannot be
/// served or skipped, then older ones. Each part is one range of an index, even if many courses have one instant.
fn next_of_instant(columns: &str) -> String {
    let instant = instant!("created_at");
    let [same_instant, without_slug, older] = ["", "", NEWEST_FIRST].map(|order| newest_first(order, ""));
    format!(
        "SELECT * FROM ({columns} AND {instant} = ?3 AND slug < ?4 COLLATE BINARY{same_instant}) \
         UNION ALL SELECT * FROM ({columns} AND {instant} = ?3 AND slug IS NULL{without_slug}) \
         UNION ALL SELECT * FROM ({columns} AND {instant} < ?3{older})"
    )
}

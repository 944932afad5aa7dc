//! The statements over the views. Texts are compared byte by byte, whatever the columns' collations. If the column of account
//! ids is numeric, SQLite compares numbers, so the account `012` also matches 12. Each row therefore includes its account,
//! which [`Owner`](catalogue_core::storage::views::Owner) compares as text.

use rusqlite::Connection;

use super::instant::instant;
use crate::plan::steps;

/// Returns whether a view has a column, such as `module_count FROM catalogue_courses`.
pub(super) fn has_column(connection: &Connection, column: &str) -> bool {
    connection.prepare(&format!("SELECT {column}")).is_ok()
}

/// Position of the instant in the rows of a page. [`IS_MODULE`] is the position of the module flag in rows of [`FIND_COURSE`].
pub(super) const INSTANT: usize = 8;
pub(super) const IS_MODULE: usize = 8;

/// Condition that `$column` is the account `?1`. The cast makes a numeric expression compare as text; a numeric column still
/// compares as a number, so that its index is used.
macro_rules! has_account {
    ($column:literal) => {
        concat!($column, " = CAST(?1 AS TEXT) COLLATE BINARY")
    };
}

/// Selects `$columns` of the account; no row if the views do not name it.
macro_rules! find_account {
    ($columns:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM catalogue_accounts WHERE ",
            has_account!("id"),
            " AND CAST(id AS TEXT) = ?1 COLLATE BINARY LIMIT 1"
        )
    };
}

/// 1 if the views name the account, else null. Not an `EXISTS`: SQLite might make it a join that precedes the ordered table.
macro_rules! is_known {
    () => {
        concat!("(", find_account!("1"), ")")
    };
}

/// Condition that a row is of the account `?1`, and that the views name this account: courses may outlast their account.
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

/// Returns the columns of a page, in the reverse order of most tables. SQLite decodes a record's header up to the requested
/// column, so reading the last column first decodes the header only once.
pub(super) fn course_columns(module_count: &str) -> String {
    let instant = instant!("created_at");
    format!("{module_count}, hidden, published_at, created_at, language, title, slug, account_id, {instant}")
}

/// Sort term for the newest instant first.
const NEWEST_FIRST: &str = concat!(instant!("created_at"), " DESC, ");

/// Returns the `ORDER BY` and the `LIMIT` of a page. The limit is 0 if the account is unknown or `condition` is false. In the
/// limit, both are evaluated only once, instead of for each row.
fn order_and_limit(order: &str, condition: &str) -> String {
    let is_known = is_known!();
    format!(" ORDER BY {order}slug COLLATE BINARY DESC LIMIT ?2 * coalesce({is_known}{condition}, 0)")
}

/// Selects a course, then its modules in any order; no rows if the account is unknown. The last column is 1 for modules.
pub(super) const FIND_COURSE: &str = concat!(
    "SELECT account_id, slug, title, tagline, language, published_at, hidden, access_mode, 0 FROM catalogue_courses \
     WHERE slug = ?2 COLLATE BINARY AND ",
    is_of_known_account!(),
    " UNION ALL SELECT account_id, course_slug, title, summary, number, NULL, NULL, NULL, 1 FROM catalogue_modules \
     WHERE course_slug = ?2 COLLATE BINARY AND ",
    is_of_known_account!()
);

/// Selects the account's revision; no row if the views do not name the account, since its revision does not change then.
pub(super) const FIND_REVISION: &str =
    concat!("SELECT account_id, revision FROM catalogue_revisions WHERE ", is_of_known_account!(), " LIMIT 2");

pub(super) const ALL_ACCOUNTS: &str = "SELECT id FROM catalogue_accounts ORDER BY CAST(id AS TEXT) COLLATE BINARY";

pub(super) const COUNT_COURSES: &str = concat!(
    "SELECT count(*) FROM catalogue_courses WHERE ",
    has_account!("account_id"),
    " AND CAST(account_id AS TEXT) = ?1 COLLATE BINARY"
);

/// Statements that depend on which columns the views have.
pub(super) struct Statements {
    pub(super) has_module_count: bool,
    /// Selects the account's id and its owner's name, which is null if the view has no names.
    pub(super) find_account: &'static str,
    pub(super) pages: Pages,
    /// Pages whose rows are buffered; `None` if SQLite sorts the rows, as it would buffer all of the account's courses.
    pub(super) buffered_pages: Option<Pages>,
}

/// Statements for a page. A later page has two: the usual one, and one that runs if the usual one returns no rows.
pub(super) struct Pages {
    pub(super) first: [String; 1],
    pub(super) next: [String; 2],
}

impl Statements {
    /// Creates the statements for the views' current columns. A missing view is reported when it is read.
    pub(super) fn of(connection: &Connection) -> Self {
        let has_module_count = has_column(connection, "module_count FROM catalogue_courses");
        let has_name = has_column(connection, "name FROM catalogue_accounts");
        let find_account = if has_name { find_account!("?1, name") } else { find_account!("?1, NULL") };
        let columns = course_columns(if has_module_count { "module_count" } else { COUNT_MODULES });
        let pages = Pages::of(&columns);
        let is_sorted = pages.all().any(|sql| is_sorted(connection, sql).unwrap_or(true));
        let buffered_pages = (!is_sorted).then(|| Pages::of(&format!("catalogue_row({columns})")));
        Self { has_module_count, find_account, pages, buffered_pages }
    }
}

impl Pages {
    fn of(columns: &str) -> Self {
        let courses = format!("SELECT {columns} FROM catalogue_courses AS c WHERE {}", has_account!("account_id"));
        Self {
            first: [format!("{courses}{}", order_and_limit(NEWEST_FIRST, ""))],
            next: [next_page(&courses), next_page_in_parts(&courses)],
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &String> {
        self.first.iter().chain(&self.next)
    }
}

/// Returns `true` if SQLite sorts: it then reads all rows of an account before it returns the first one.
fn is_sorted(connection: &Connection, sql: &str) -> rusqlite::Result<bool> {
    Ok(steps(connection, sql)?.iter().any(|step| step.starts_with("USE TEMP B-TREE")))
}

/// Returns the usual statement for a later page. Its `OFFSET` skips the courses of the cursor's instant up to the cursor, so
/// that no row is compared with the cursor. If it would skip more than 20, it returns no rows. It is one `SELECT`, since SQLite
/// copies each text of a compound one. A course without a slug comes last in its instant; the page that reaches it fails.
fn next_page(select: &str) -> String {
    let instant = instant!("created_at");
    let skipped = format!(
        "FROM catalogue_courses WHERE {} AND {instant} = ?3 AND slug >= ?4 COLLATE BINARY",
        has_account!("account_id")
    );
    let are_few = format!(" AND (SELECT 1 {skipped} LIMIT 1 OFFSET 20) IS NULL");
    let order = order_and_limit(NEWEST_FIRST, &are_few);
    format!("{select} AND {instant} <= ?3{order} OFFSET (SELECT count(*) {skipped})")
}

/// Returns a statement that is right for any later page. It selects the rest of the cursor's instant, then the instant's courses
/// without a slug, which make the page fail, then older courses. Each part is one index range, however many share the instant.
fn next_page_in_parts(select: &str) -> String {
    let instant = instant!("created_at");
    let [same_instant, without_slug, older] = ["", "", NEWEST_FIRST].map(|order| order_and_limit(order, ""));
    format!(
        "SELECT * FROM ({select} AND {instant} = ?3 AND slug < ?4 COLLATE BINARY{same_instant}) \
         UNION ALL SELECT * FROM ({select} AND {instant} = ?3 AND slug IS NULL{without_slug}) \
         UNION ALL SELECT * FROM ({select} AND {instant} < ?3{older})"
    )
}

//! The statements over the views. Texts are compared byte by byte, whatever the columns say.

use rusqlite::Connection;

use super::clock;
use super::instant::instant;

/// Of an account that the views name, and else none: a course may outlast its account's row there. SQLite might make a join
/// of an `EXISTS`, and put it before what is in order.
macro_rules! of_the_account {
    () => {
        "account_id = ?1 COLLATE BINARY AND (SELECT 1 FROM catalogue_accounts WHERE id = ?1 COLLATE BINARY LIMIT 1)"
    };
}

macro_rules! course_columns {
    ($module_count:expr) => {
        concat!(
            "SELECT account_id, slug, title, language, published_at, hidden, ",
            $module_count,
            ", created_at, ",
            instant!("created_at"),
            " AS instant FROM catalogue_courses AS c WHERE ",
            of_the_account!()
        )
    };
}

const NEWEST_FIRST: &str = " ORDER BY instant DESC, slug COLLATE BINARY DESC LIMIT ?2";

/// Where the view does not say how many modules a course has.
macro_rules! counted {
    () => {
        "(SELECT count(*) FROM catalogue_modules AS m WHERE m.account_id = ?1 COLLATE BINARY \
         AND m.course_slug = c.slug COLLATE BINARY)"
    };
}

/// Account, text columns and times of the course, then its modules in any order; nothing where the account is not known.
/// The first column tells them apart.
pub(super) const FIND_COURSE: &str = concat!(
    "SELECT 0, account_id, slug, title, tagline, language, published_at, hidden, access_mode FROM catalogue_courses \
     WHERE slug = ?2 COLLATE BINARY AND ",
    of_the_account!(),
    " UNION ALL SELECT 1, account_id, course_slug, title, summary, number, NULL, NULL, NULL FROM catalogue_modules \
     WHERE account_id = ?1 COLLATE BINARY AND course_slug = ?2 COLLATE BINARY"
);

/// None of an account that has left: what it is shown then does not change its revision.
pub(super) const FIND_REVISION: &str =
    concat!("SELECT account_id, revision FROM catalogue_revisions WHERE ", of_the_account!(), " LIMIT 2");

pub(super) const FIND_ACCOUNT: &str = "SELECT id FROM catalogue_accounts WHERE id = ?1 COLLATE BINARY LIMIT 1";

pub(super) const ALL_ACCOUNTS: &str = "SELECT id FROM catalogue_accounts ORDER BY id COLLATE BINARY";

pub(super) const COUNT_COURSES: &str = "SELECT count(*) FROM catalogue_courses WHERE account_id = ?1 COLLATE BINARY";

/// Those that depend on which columns and views are there.
pub(super) struct Statements {
    pub(super) first_page: String,
    pub(super) next_page: String,
    pub(super) has_revisions: bool,
    /// What is read now may not be what is read later, without a commit in between.
    pub(super) read_the_clock: bool,
}

impl Statements {
    /// For the views as they are now. A view that is missing is told by whoever reads it.
    pub(super) fn of(connection: &Connection) -> Self {
        let is_there = |sql: &str| connection.prepare(sql).is_ok();
        let columns = if is_there("SELECT module_count FROM catalogue_courses") {
            course_columns!("module_count")
        } else {
            course_columns!(counted!())
        };
        let has_revisions = is_there("SELECT account_id, revision FROM catalogue_revisions");
        let read_the_clock = clock::is_read(connection).unwrap_or(true);
        Self {
            first_page: format!("{columns}{NEWEST_FIRST}"),
            next_page: next_page(columns),
            has_revisions,
            read_the_clock,
        }
    }
}

/// Those of the place's own instant first, and after them one without a slug, which no comparison finds: it cannot be served, nor
/// passed by. Each part is one range of an index, also where many courses have one instant.
fn next_page(columns: &str) -> String {
    let instant = instant!("created_at");
    format!(
        "SELECT * FROM ({columns} AND {instant} = ?3 AND slug < ?4 COLLATE BINARY \
         ORDER BY slug COLLATE BINARY DESC LIMIT ?2) \
         UNION ALL SELECT * FROM ({columns} AND {instant} = ?3 AND slug IS NULL LIMIT 1) \
         UNION ALL SELECT * FROM ({columns} AND {instant} < ?3{NEWEST_FIRST})"
    )
}

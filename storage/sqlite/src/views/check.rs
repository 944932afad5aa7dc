//! Looking for what the API could not serve: views, columns and rows.

use catalogue_core::async_trait;
use catalogue_core::storage::{CheckedRows, CourseViews, StorageError, ViewAdvice, ViewFault};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};

use super::check_columns::whole_views;
use super::instant::instant;
use super::read::{ACCOUNTS, COURSES, MODULES, ONCE, REVISIONS, TWICE};
use super::row::{BadRow, ViewRow, shown};
use super::{ViewedCourses, forms, plans, trust};
use crate::error::storage_error;
use crate::readers::ADMINISTRATION_WAIT;

/// How many rows of a view are a sample.
const SAMPLE: i64 = 10_000;
/// How many faults of a view are told at most.
const MOST_FAULTS: usize = 100;

const COURSE_ROWS: &str = concat!(
    "SELECT account_id, slug, title, tagline, language, created_at, ",
    instant!("created_at"),
    ", published_at, hidden, access_mode FROM catalogue_courses LIMIT ?1"
);
const MODULE_ROWS: &str = "SELECT account_id, course_slug, number, title, summary FROM catalogue_modules LIMIT ?1";
const MODULE_COUNTS: &str = "SELECT account_id, slug, module_count FROM catalogue_courses LIMIT ?1";

/// Courses of which the view says another number of modules than there are. Both are of one sample, put together at once.
const OTHER_COUNTS: &str = "WITH sample AS MATERIALIZED (SELECT account_id, slug, module_count FROM catalogue_courses LIMIT ?1) \
     SELECT account_id, slug, max(told), sum(found) FROM \
     (SELECT account_id, slug, module_count AS told, 0 AS found FROM sample WHERE typeof(module_count) = 'integer' \
     UNION ALL SELECT account_id, course_slug, NULL, 1 FROM catalogue_modules \
     WHERE (account_id, course_slug) IN (SELECT account_id, slug FROM sample)) \
     GROUP BY account_id COLLATE BINARY, slug COLLATE BINARY HAVING max(told) <> sum(found) AND max(told) >= 0";

const REPEATED_SLUGS: &str = "SELECT account_id, slug FROM (SELECT account_id, slug FROM catalogue_courses LIMIT ?1) \
     GROUP BY account_id COLLATE BINARY, slug COLLATE BINARY HAVING count(*) > 1";

/// Courses among whose modules a number is missing or repeated, as far as those rows say.
const BAD_NUMBERS: &str = "SELECT account_id, course_slug FROM \
     (SELECT account_id, course_slug, number FROM catalogue_modules LIMIT ?1) \
     GROUP BY account_id COLLATE BINARY, course_slug COLLATE BINARY \
     HAVING min(number) <> 1 OR max(number) <> count(*) OR count(DISTINCT number) <> count(*)";

/// The same of one course, all of whose modules are looked at.
const HAS_BAD_NUMBERS: &str = "SELECT min(number) <> 1 OR max(number) <> count(*) OR count(DISTINCT number) <> count(*) \
     FROM catalogue_modules WHERE account_id = ?1 COLLATE BINARY AND course_slug = ?2 COLLATE BINARY";

#[async_trait]
impl CourseViews for ViewedCourses {
    async fn check_views(&self, rows: CheckedRows) -> Result<Vec<ViewFault>, StorageError> {
        let connection = self.readers.database().open_exporter()?;
        check(&connection, most(rows)).map_err(storage_error)
    }

    async fn check_forms(&self, rows: CheckedRows) -> Result<Vec<ViewAdvice>, StorageError> {
        let connection = self.readers.database().open_exporter()?;
        forms::check(&connection, most(rows)).map_err(storage_error)
    }

    async fn check_revisions(&self) -> Result<Vec<ViewAdvice>, StorageError> {
        Ok(self.readers.read_within(ADMINISTRATION_WAIT, |connection| trust::examine(connection))?.distrust)
    }

    async fn check_plans(&self) -> Result<Vec<ViewAdvice>, StorageError> {
        let connection = self.readers.database().open_exporter()?;
        plans::check(&connection, &self.statements).map_err(storage_error)
    }

    /// None: SQLite has no roles, and the file is opened so that nothing can be written.
    async fn check_rights(&self) -> Result<Vec<ViewAdvice>, StorageError> {
        Ok(Vec::new())
    }
}

/// How many rows that is at most, as a `LIMIT`.
fn most(rows: CheckedRows) -> i64 {
    match rows {
        CheckedRows::Sample => SAMPLE,
        CheckedRows::All => -1,
    }
}

fn check(connection: &Connection, most: i64) -> rusqlite::Result<Vec<ViewFault>> {
    let one_state = connection.unchecked_transaction()?;
    let (whole, faults) = whole_views(&one_state);
    let mut check = Check { connection: &one_state, most, faults };
    for view in whole {
        match view {
            ACCOUNTS => check.accounts()?,
            COURSES => check.courses()?,
            MODULES => check.modules()?,
            _ => check.revisions()?,
        }
    }
    Ok(check.faults)
}

struct Check<'c> {
    connection: &'c Connection,
    most: i64,
    faults: Vec<ViewFault>,
}

impl Check<'_> {
    fn accounts(&mut self) -> rusqlite::Result<()> {
        self.rows(ACCOUNTS, &[0], "SELECT id FROM catalogue_accounts LIMIT ?1", |row| vec![row.text(0, "id").err()])
    }

    fn courses(&mut self) -> rusqlite::Result<()> {
        self.rows(COURSES, &[0, 1], COURSE_ROWS, |row| {
            let mut found = vec![
                row.text(0, "account_id").err(),
                row.slug(1, "slug").err(),
                row.text(2, "title").err(),
                row.text(3, "tagline").err(),
                row.text(4, "language").err(),
                row.optional_time(7, "published_at").err(),
                row.flag(8, "hidden").err(),
                row.optional_text(9, "access_mode").err(),
            ];
            match row.check_creation(5, 6) {
                Err(bad) => found.push(Some(bad)),
                Ok(()) => found.push(looks_like_seconds(row)),
            }
            found
        })?;
        if self.connection.prepare(MODULE_COUNTS).is_ok() {
            self.rows(COURSES, &[0, 1], MODULE_COUNTS, |row| vec![row.count(2, "module_count", 0).err()])?;
            // Where modules can be read.
            if self.connection.prepare(OTHER_COUNTS).is_ok() {
                self.rows(COURSES, &[0, 1], OTHER_COUNTS, |row| {
                    let [told, found] = [2, 3].map(|column| shown(row.value(column)));
                    let ending = if found == "1" { "" } else { "s" };
                    let what = format!("`module_count` is {told}, and the course has {found} module{ending}");
                    vec![Some(row.bad(what, "as many as `catalogue_modules` has"))]
                })?;
            }
        }
        self.rows(COURSES, &[0, 1], REPEATED_SLUGS, |row| vec![Some(row.bad(TWICE, ONCE))])
    }

    fn modules(&mut self) -> rusqlite::Result<()> {
        self.rows(MODULES, &[0, 1, 2], MODULE_ROWS, |row| {
            vec![
                row.text(0, "account_id").err(),
                row.slug(1, "course_slug").err(),
                row.count(2, "number", 1).err(),
                row.text(3, "title").err(),
                row.text(4, "summary").err(),
            ]
        })?;
        let is_sample = self.most >= 0;
        let mut looked_up = 0;
        let mut has_bad_numbers = self.connection.prepare(HAS_BAD_NUMBERS)?;
        self.rows(MODULES, &[0, 1], BAD_NUMBERS, |row| {
            let bad = row.bad("its modules lack a number, or have one twice", "modules numbered from 1 without a gap");
            let (Ok(account), Ok(slug)) = (row.text(0, "account_id"), row.text(1, "course_slug")) else {
                return vec![];
            };
            // Others of its modules may not be in the sample. Without an index each look-up reads the whole view.
            looked_up += usize::from(is_sample);
            if looked_up > MOST_FAULTS {
                return vec![];
            }
            let is_bad = !is_sample || has_bad_numbers.query_row([account, slug], |row| row.get(0)).unwrap_or(true);
            vec![is_bad.then_some(bad)]
        })
    }

    fn revisions(&mut self) -> rusqlite::Result<()> {
        let rows = "SELECT account_id, revision FROM catalogue_revisions LIMIT ?1";
        self.rows(REVISIONS, &[0], rows, |row| vec![row.text(0, "account_id").err(), row.revision(1).err()])?;
        let repeated = "SELECT account_id FROM (SELECT account_id FROM catalogue_revisions LIMIT ?1) \
             GROUP BY account_id COLLATE BINARY HAVING count(*) > 1";
        self.rows(REVISIONS, &[0], repeated, |row| {
            vec![Some(row.bad("the account has two revisions", "one row an account"))]
        })
    }

    /// Notes what `find` says of each row, up to a number of faults.
    fn rows(
        &mut self,
        view: &'static str,
        key: &'static [usize],
        sql: &str,
        mut find: impl FnMut(&ViewRow<'_>) -> Vec<Option<Box<BadRow>>>,
    ) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query(params![self.most])?;
        let mut room = MOST_FAULTS;
        while let Some(row) = rows.next()? {
            for bad in find(&ViewRow { view, row: row.into(), key }).into_iter().flatten() {
                if room == 0 {
                    return Ok(());
                }
                room -= 1;
                let BadRow { view, key, what, wanted } = *bad;
                self.faults.push(ViewFault { view, key: Some(key), what, wanted });
            }
        }
        Ok(())
    }
}

/// Numbers of seconds and milliseconds since 2001 are microseconds of the first years after 1970.
fn looks_like_seconds(row: &ViewRow<'_>) -> Option<Box<BadRow>> {
    let ValueRef::Integer(number @ 1_000_000_000..100_000_000_000_000) = row.value(5) else { return None };
    let what = format!("`created_at` is {number}, which are microseconds of {}", row.time(5, "created_at").ok()?);
    Some(row.bad(what, "microseconds: multiply seconds by 1000000, milliseconds by 1000"))
}

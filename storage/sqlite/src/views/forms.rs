//! In how many forms times are written. Lists are in order by the instant in any case; an index on the text itself is not.

use catalogue_core::storage::ViewAdvice;
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::instant;
use super::read::COURSES;
use super::row::{ViewRow, shown};

const TIMES: &str = "SELECT account_id, slug, created_at FROM catalogue_courses LIMIT ?1";

/// The first two rows whose `created_at` has different forms. What is no time is a fault, and told by the check for those.
pub(super) fn check(connection: &Connection, most: i64) -> rusqlite::Result<Vec<ViewAdvice>> {
    // So is a column that is missing.
    let Ok(mut statement) = connection.prepare(TIMES) else { return Ok(Vec::new()) };
    let mut rows = statement.query([most])?;
    let mut first: Option<(Form, String)> = None;
    while let Some(row) = rows.next()? {
        let row = ViewRow { view: COURSES, row, key: &[0, 1] };
        let Some(form) = form(row.value(2)) else { continue };
        let described = || format!("{} ({})", shown(row.value(2)), row.shown_key());
        match &first {
            None => first = Some((form, described())),
            Some((known, _)) if *known == form => {}
            Some((_, other)) => {
                let what = format!(
                    "`created_at` is {} in one row and {other} in another: as texts these are not in order, so that an \
                     index on the column cannot serve; write one form, with as many digits, or keep the index that \
                     `doctor` prints",
                    described()
                );
                return Ok(vec![ViewAdvice { about: COURSES.to_owned(), what, remedy: None }]);
            }
        }
    }
    Ok(Vec::new())
}

/// What texts that are in order share: what separates date and time, the digits of the fraction, and what follows.
#[derive(PartialEq)]
enum Form {
    Number,
    Text(u8, usize, String),
}

fn form(time: ValueRef<'_>) -> Option<Form> {
    instant::read(time)?;
    let ValueRef::Text(text) = time else { return Some(Form::Number) };
    let (separator, rest) = (*text.get(10)?, text.get(19..)?);
    let zone = rest.iter().position(|byte| !matches!(byte, b'.' | b'0'..=b'9')).unwrap_or(rest.len());
    Some(Form::Text(separator, zone, String::from_utf8_lossy(&rest[zone..]).into_owned()))
}

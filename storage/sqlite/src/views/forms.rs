//! In how many forms times are written. Lists are in order by the instant in any case; an order by the text may be another.

use std::fmt;

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
        let row = ViewRow { view: COURSES, row: row.into(), key: &[0, 1] };
        let Some(form) = form(row.value(2)) else { continue };
        let described = || format!("{form}, such as {} ({})", shown(row.value(2)), row.shown_key());
        match &first {
            None => {
                let described = described();
                first = Some((form, described));
            }
            Some((known, _)) if *known == form => {}
            Some((_, other)) => {
                let what = format!(
                    "`created_at` has more than one form: {other}, and {}. Lists are in order by the instant, and the index that \
                     `doctor` prints serves both; an order by the column itself may be another, so where your program has \
                     one, write all times in one form, with as many digits",
                    described()
                );
                return Ok(vec![ViewAdvice { about: COURSES.to_owned(), what, remedy: None }]);
            }
        }
    }
    Ok(Vec::new())
}

/// What texts that are in order share: what separates date and time, the length of the fraction, and what follows.
#[derive(PartialEq)]
enum Form {
    Number,
    Text(u8, usize, String),
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Text(separator, fraction, zone) = self else { return f.write_str("a number") };
        let fraction: String = ".".chars().chain(std::iter::repeat('f')).take(*fraction).collect();
        write!(f, "YYYY-MM-DD{}HH:MM:SS{fraction}{zone}", char::from(*separator))
    }
}

fn form(time: ValueRef<'_>) -> Option<Form> {
    instant::read(time)?;
    let ValueRef::Text(text) = time else { return Some(Form::Number) };
    let (separator, rest) = (*text.get(10)?, text.get(19..)?);
    let zone = rest.iter().position(|byte| !matches!(byte, b'.' | b'0'..=b'9')).unwrap_or(rest.len());
    Some(Form::Text(separator, zone, String::from_utf8_lossy(&rest[zone..]).into_owned()))
}

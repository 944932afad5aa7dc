//! Rows of the views, read strictly: never a wrong answer from a value that the API must not show.

use std::fmt;

use catalogue_core::storage::{CourseRow, Position, Revision};
use catalogue_core::{Timestamp, is_slug};
use rusqlite::types::{Type, ValueRef};
use rusqlite::{Error, Row};

use super::instant;

/// A row of a view that the API cannot serve.
#[derive(Debug)]
pub(crate) struct BadRow {
    pub(super) view: &'static str,
    /// The row's key, such as `acc_1, rust-basics`.
    pub(super) key: String,
    pub(super) what: String,
    pub(super) wanted: String,
}

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { view, key, what, wanted } = self;
        write!(f, "{view} has a row that cannot be served ({key}): {what}; wanted: {wanted}")
    }
}

impl std::error::Error for BadRow {}

/// As an error of reading, which keeps it as its source.
impl From<BadRow> for Error {
    fn from(row: BadRow) -> Self {
        Self::FromSqlConversionFailure(0, Type::Null, Box::new(row))
    }
}

/// A row of one view, and which of its columns are its key.
pub(super) struct ViewRow<'r> {
    pub(super) view: &'static str,
    pub(super) row: &'r Row<'r>,
    pub(super) key: &'static [usize],
}

impl<'r> ViewRow<'r> {
    /// That it is this row which cannot be served.
    pub(super) fn bad(&self, what: impl Into<String>, wanted: impl Into<String>) -> BadRow {
        BadRow { view: self.view, key: self.shown_key(), what: what.into(), wanted: wanted.into() }
    }

    pub(super) fn shown_key(&self) -> String {
        let key: Vec<String> = self.key.iter().map(|column| shown(self.value(*column))).collect();
        key.join(", ")
    }

    pub(super) fn value(&self, column: usize) -> ValueRef<'r> {
        self.row.get_ref(column).unwrap_or(ValueRef::Null)
    }

    /// A text that is not null.
    pub(super) fn text(&self, column: usize, name: &str) -> Result<&'r str, BadRow> {
        self.optional_text(column, name)?.ok_or_else(|| self.bad(format!("`{name}` is null"), "a text"))
    }

    /// A text, or none.
    pub(super) fn optional_text(&self, column: usize, name: &str) -> Result<Option<&'r str>, BadRow> {
        match self.value(column) {
            ValueRef::Null => Ok(None),
            ValueRef::Text(text) => match std::str::from_utf8(text) {
                Ok(text) => Ok(Some(text)),
                Err(_) => Err(self.bad(format!("`{name}` is not UTF-8"), "a text in UTF-8")),
            },
            other => Err(self.bad(format!("`{name}` is {}", kind(other)), "a text, such as by `CAST(… AS TEXT)`")),
        }
    }

    /// A part of the key, as it was asked for.
    pub(super) fn same(&self, column: usize, name: &str, asked: &str) -> Result<(), BadRow> {
        if self.value(column) == ValueRef::Text(asked.as_bytes()) {
            return Ok(());
        }
        self.text(column, name)?;
        Err(self.bad(format!("`{name}` compares equal to {asked:?} and is another text"), "a text that does not"))
    }

    pub(super) fn slug(&self, column: usize, name: &str) -> Result<&'r str, BadRow> {
        let slug = self.text(column, name)?;
        if is_slug(slug) {
            return Ok(slug);
        }
        let what = format!("`{name}` is {}", shown(self.value(column)));
        Err(self.bad(what, "1 to 200 bytes without `/` and control characters"))
    }

    pub(super) fn time(&self, column: usize, name: &str) -> Result<Timestamp, BadRow> {
        self.read_time(self.value(column), name)
    }

    fn read_time(&self, value: ValueRef<'_>, name: &str) -> Result<Timestamp, BadRow> {
        instant::read(value).ok_or_else(|| self.bad(format!("`{name}` is {}", shown(value)), instant::WANTED))
    }

    pub(super) fn optional_time(&self, column: usize, name: &str) -> Result<Option<Timestamp>, BadRow> {
        match self.value(column) {
            ValueRef::Null => Ok(None),
            value => self.read_time(value, name).map(Some),
        }
    }

    /// `created_at`, and that what the list is ordered by is that very instant.
    pub(super) fn creation(&self, column: usize, instant: usize) -> Result<Timestamp, BadRow> {
        let created_at = self.time(column, "created_at")?;
        if self.value(instant) == ValueRef::Integer(created_at.as_microseconds()) {
            return Ok(created_at);
        }
        let what = format!("`created_at` is {}, which SQLite reads otherwise", shown(self.value(column)));
        Err(self.bad(what, "the same in UTC"))
    }

    pub(super) fn flag(&self, column: usize, name: &str) -> Result<bool, BadRow> {
        match self.value(column) {
            ValueRef::Integer(flag @ (0 | 1)) => Ok(flag == 1),
            other => Err(self.bad(format!("`{name}` is {}", shown(other)), "0 or 1")),
        }
    }

    /// An integer that is not less than `least`.
    pub(super) fn count(&self, column: usize, name: &str, least: u32) -> Result<u32, BadRow> {
        let count = match self.value(column) {
            ValueRef::Integer(count) => u32::try_from(count).ok().filter(|count| *count >= least),
            _ => None,
        };
        count.ok_or_else(|| {
            let what = format!("`{name}` is {}", described(self.value(column)));
            self.bad(what, format!("an integer from {least}"))
        })
    }

    /// A row of a page, of [`Statements`](super::statements::Statements), and where it stands.
    pub(super) fn course(&self, account: &str) -> Result<(CourseRow<'r>, Timestamp), BadRow> {
        self.same(0, "account_id", account)?;
        let row = CourseRow {
            slug: self.slug(1, "slug")?,
            title: self.text(2, "title")?,
            language: self.text(3, "language")?,
            published_at: self.optional_time(4, "published_at")?,
            hidden: self.flag(5, "hidden")?,
            module_count: self.count(6, "module_count", 0)?,
        };
        Ok((row, self.creation(7, 8)?))
    }

    /// A revision of 16 bytes, or a UUID as text.
    pub(super) fn revision(&self, column: usize) -> Result<Revision, BadRow> {
        let bytes = match self.value(column) {
            ValueRef::Blob(bytes) => <[u8; 16]>::try_from(bytes).ok(),
            ValueRef::Text(text) => uuid(text),
            _ => None,
        };
        let what = || format!("`revision` is {}", shown(self.value(column)));
        bytes.map(Revision::from_bytes).ok_or_else(|| self.bad(what(), "a blob of 16 bytes, or a UUID as text"))
    }
}

/// The bytes of a UUID, with its hyphens or without.
fn uuid(text: &[u8]) -> Option<[u8; 16]> {
    let digits: Vec<u8> = text.iter().copied().filter(|byte| *byte != b'-').collect();
    let digits = std::str::from_utf8(&digits).ok().filter(|digits| digits.len() == 32)?;
    let is_hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = u128::from_str_radix(digits, 16).ok().filter(|_| is_hexadecimal)?;
    Some(number.to_be_bytes())
}

/// Where a row of a page stands.
pub(super) fn position(row: &CourseRow<'_>, created_at: Timestamp) -> Position {
    Position { created_at, slug: row.slug.to_owned() }
}

/// A value for people, cut where it is long.
pub(super) fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => {
            let text = String::from_utf8_lossy(text);
            let is_plain = !text.is_empty() && text.len() <= 200 && !text.chars().any(char::is_control);
            if is_plain { text.into_owned() } else { format!("{:?}", text.chars().take(60).collect::<String>()) }
        }
        other => kind(other).to_owned(),
    }
}

/// The same with its type, where that is not what it looks like.
fn described(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Text(_) => format!("the text {:?}", shown(value)),
        other => shown(other),
    }
}

fn kind(value: ValueRef<'_>) -> &'static str {
    match value {
        ValueRef::Null => "null",
        ValueRef::Integer(_) => "an integer",
        ValueRef::Real(_) => "a real number",
        ValueRef::Text(_) => "a text",
        ValueRef::Blob(_) => "a blob",
    }
}

//! Rows of the views, read strictly: never a wrong answer from a value that the API must not show.

use std::fmt;

use catalogue_core::storage::{CourseRow, Position, Revision};
use catalogue_core::{Timestamp, is_slug};
use rusqlite::Error;
use rusqlite::types::{FromSqlError, Type, ValueRef};

use super::instant;
use crate::kept_rows::Columns;

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
impl From<Box<BadRow>> for Error {
    fn from(row: Box<BadRow>) -> Self {
        Self::FromSqlConversionFailure(0, Type::Null, row)
    }
}

/// A row of one view, and which of its columns are its key.
pub(super) struct ViewRow<'r> {
    pub(super) view: &'static str,
    pub(super) row: Columns<'r>,
    pub(super) key: &'static [usize],
}

impl<'r> ViewRow<'r> {
    /// That it is this row which cannot be served. In a box: what is read of the others is handed over in registers.
    #[cold]
    pub(super) fn bad(&self, what: impl Into<String>, wanted: impl Into<String>) -> Box<BadRow> {
        Box::new(BadRow { view: self.view, key: self.shown_key(), what: what.into(), wanted: wanted.into() })
    }

    pub(super) fn shown_key(&self) -> String {
        let key: Vec<String> = self.key.iter().map(|column| shown(self.value(*column))).collect();
        key.join(", ")
    }

    #[inline]
    pub(super) fn value(&self, column: usize) -> ValueRef<'r> {
        self.row.value(column)
    }

    /// A text that is not null. Always inlined, as its columns take a good part of a page's time.
    #[inline(always)]
    pub(super) fn text(&self, column: usize, name: &str) -> Result<&'r str, Box<BadRow>> {
        match self.row.text(column) {
            Ok(text) => Ok(text),
            Err(FromSqlError::InvalidType) => Err(self.no_text(column, name)),
            Err(_) => Err(self.not_utf8(name)),
        }
    }

    /// A text, or none.
    pub(super) fn optional_text(&self, column: usize, name: &str) -> Result<Option<&'r str>, Box<BadRow>> {
        if self.value(column) == ValueRef::Null { Ok(None) } else { self.text(column, name).map(Some) }
    }

    #[cold]
    fn not_utf8(&self, name: &str) -> Box<BadRow> {
        self.bad(format!("`{name}` is not UTF-8"), "a text in UTF-8")
    }

    #[cold]
    fn no_text(&self, column: usize, name: &str) -> Box<BadRow> {
        let value = self.value(column);
        let wanted = if value == ValueRef::Null { "a text" } else { "a text, such as by `CAST(… AS TEXT)`" };
        self.bad(format!("`{name}` is {}", kind(value)), wanted)
    }

    /// A part of the key, as it was asked for.
    #[inline]
    pub(super) fn same(&self, column: usize, name: &str, asked: &str) -> Result<(), Box<BadRow>> {
        if self.value(column) == ValueRef::Text(asked.as_bytes()) {
            return Ok(());
        }
        self.text(column, name)?;
        Err(self.bad(format!("`{name}` compares equal to {asked:?} and is another text"), "a text that does not"))
    }

    #[inline(always)]
    pub(super) fn slug(&self, column: usize, name: &str) -> Result<&'r str, Box<BadRow>> {
        let slug = self.text(column, name)?;
        if is_slug(slug) { Ok(slug) } else { Err(self.no_slug(slug, name)) }
    }

    #[cold]
    fn no_slug(&self, text: &str, name: &str) -> Box<BadRow> {
        let what = format!("`{name}` is {}", shown(ValueRef::Text(text.as_bytes())));
        self.bad(what, "1 to 200 bytes without `/` and control characters")
    }

    pub(super) fn time(&self, column: usize, name: &str) -> Result<Timestamp, Box<BadRow>> {
        let value = self.value(column);
        instant::read(value).ok_or_else(|| self.bad(format!("`{name}` is {}", shown(value)), instant::WANTED))
    }

    #[inline(always)]
    pub(super) fn optional_time(&self, column: usize, name: &str) -> Result<Option<Timestamp>, Box<BadRow>> {
        match self.value(column) {
            ValueRef::Null => Ok(None),
            value => instant::read_usual(value).map_or_else(|| self.time(column, name), Ok).map(Some),
        }
    }

    /// That `created_at` can be read, and that what the list is ordered by is that very instant.
    #[inline]
    pub(super) fn check_creation(&self, column: usize, instant: usize) -> Result<(), Box<BadRow>> {
        if instant::is_usual(self.value(column)) { Ok(()) } else { self.check_unusual_creation(column, instant) }
    }

    #[cold]
    fn check_unusual_creation(&self, column: usize, instant: usize) -> Result<(), Box<BadRow>> {
        let created_at = self.time(column, "created_at")?;
        if self.value(instant) == ValueRef::Integer(created_at.as_microseconds()) {
            return Ok(());
        }
        let what = format!("`created_at` is {}, which SQLite reads otherwise", shown(self.value(column)));
        Err(self.bad(what, "the same in UTC"))
    }

    #[inline]
    pub(super) fn flag(&self, column: usize, name: &str) -> Result<bool, Box<BadRow>> {
        match self.value(column) {
            ValueRef::Integer(flag @ (0 | 1)) => Ok(flag == 1),
            _ => Err(self.no_flag(column, name)),
        }
    }

    #[cold]
    fn no_flag(&self, column: usize, name: &str) -> Box<BadRow> {
        self.bad(format!("`{name}` is {}", shown(self.value(column))), "0 or 1")
    }

    /// An integer that is not less than `least`.
    #[inline]
    pub(super) fn count(&self, column: usize, name: &str, least: u32) -> Result<u32, Box<BadRow>> {
        match self.value(column) {
            ValueRef::Integer(count) if (i64::from(least)..=i64::from(u32::MAX)).contains(&count) => Ok(count as u32),
            _ => Err(self.no_count(column, name, least)),
        }
    }

    #[cold]
    fn no_count(&self, column: usize, name: &str, least: u32) -> Box<BadRow> {
        self.bad(format!("`{name}` is {}", described(self.value(column))), format!("an integer from {least}"))
    }

    /// A row of a page, of [`Statements`](super::statements::Statements), which is of that account and can have its place in
    /// the order.
    #[inline]
    pub(super) fn course(&self, account: &str) -> Result<CourseRow<'r>, Box<BadRow>> {
        self.same(8, "account_id", account)?;
        let row = CourseRow {
            slug: self.slug(6, "slug")?,
            title: self.text(5, "title")?,
            language: self.text(4, "language")?,
            published_at: self.optional_time(2, "published_at")?,
            hidden: self.flag(1, "hidden")?,
            module_count: self.count(0, "module_count", 0)?,
        };
        self.check_creation(3, 7)?;
        Ok(row)
    }

    /// Where a row of a page stands.
    pub(super) fn position(&self) -> Result<Position, Box<BadRow>> {
        Ok(Position { created_at: self.time(3, "created_at")?, slug: self.text(6, "slug")?.to_owned() })
    }

    /// A revision of 16 bytes, or a UUID as text.
    pub(super) fn revision(&self, column: usize) -> Result<Revision, Box<BadRow>> {
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

//! Strict reading of view rows: a value that the API must not serve is reported with the view and the key of its row.

use super::ViewProblem;
use super::value::{Cells, Column, Owner, Page, Value, display_value, parse};
use crate::model::{CourseDetail, Module, is_slug};
use crate::storage::{CourseRow, Revision};
use crate::timestamp::Timestamp;

/// A row of one view, with the positions of its key columns.
#[derive(Clone, Copy, Debug)]
pub struct ViewRow<C> {
    /// The view.
    pub view: &'static str,
    /// The row.
    pub cells: C,
    /// Positions of the columns that identify the row in messages.
    pub key: &'static [usize],
}

/// Problem of a row. Boxed, so that the values of valid rows are returned in registers.
type Problem = Box<ViewProblem>;

/// Each function that returns a `Result` is strict: it fails with the row's problem if a value is not of the expected kind.
#[allow(clippy::missing_errors_doc, reason = "all fail in the same way")]
impl<'r, C: Cells<'r>> ViewRow<C> {
    /// Returns a problem of this row.
    #[cold]
    pub fn problem(&self, problem: impl Into<String>, expected: impl Into<String>) -> Problem {
        let key: Vec<String> = self.key.iter().map(|position| display_value(self.cells.value(*position))).collect();
        let (problem, expected) = (problem.into(), expected.into());
        Box::new(ViewProblem { view: self.view, key: Some(key.join(", ")), problem, expected })
    }

    #[cold]
    fn unexpected(&self, Column(position, name): Column, expected: impl Into<String>) -> Problem {
        self.problem(format!("`{name}` is {}", display_value(self.cells.value(position))), expected)
    }

    /// Returns `true` if the value at a position is null.
    pub fn is_null(&self, position: usize) -> bool {
        self.cells.value(position) == Value::Null
    }

    /// Fails unless the row is the owner's. Must be called before anything else of the row is used.
    #[inline]
    pub fn check_owner(&self, column: Column, owner: Owner<'_>) -> Result<(), Problem> {
        match self.cells.value(column.0) {
            Value::Text(text) if text == owner.id => Ok(()),
            Value::Integer(number) if Some(number) == owner.number => Ok(()),
            Value::Text(_) | Value::Integer(_) => {
                Err(self.unexpected(column, format!("an id that does not compare equal to {:?}", owner.id)))
            }
            _ => Err(self.unexpected(column, EXPECTED_ID)),
        }
    }

    /// Returns an account's id: a text, or the digits of an integer.
    pub fn id(&self, column: Column) -> Result<String, Problem> {
        match self.cells.value(column.0) {
            Value::Text(text) => Ok(text.to_owned()),
            Value::Integer(number) => Ok(number.to_string()),
            _ => Err(self.unexpected(column, EXPECTED_ID)),
        }
    }

    /// Returns a text.
    #[inline]
    pub fn text(&self, column: Column) -> Result<&'r str, Problem> {
        match self.cells.value(column.0) {
            Value::Text(text) => Ok(text),
            _ => Err(self.unexpected(column, "UTF-8 text")),
        }
    }

    fn owned(&self, column: Column) -> Result<String, Problem> {
        self.text(column).map(str::to_owned)
    }

    /// Returns a slug.
    #[inline]
    pub fn slug(&self, column: Column) -> Result<&'r str, Problem> {
        let slug = self.text(column)?;
        if is_slug(slug) {
            Ok(slug)
        } else {
            Err(self.unexpected(column, "1 to 200 bytes without `/` and control characters"))
        }
    }

    /// Returns a time, which is an instant, an integer of microseconds, or an RFC 3339 text. A text with a space
    /// before the time may lack an offset, which means UTC.
    pub fn time(&self, column: Column) -> Result<Timestamp, Problem> {
        let time = match self.cells.value(column.0) {
            Value::Time(time) => Some(time),
            Value::Integer(microseconds) => Timestamp::from_microseconds(microseconds),
            Value::Text(text) => parse(text),
            _ => None,
        };
        time.ok_or_else(|| self.unexpected(column, C::TIME))
    }

    fn optional_time(&self, column: Column) -> Result<Option<Timestamp>, Problem> {
        if self.is_null(column.0) { Ok(None) } else { self.time(column).map(Some) }
    }

    #[inline]
    fn flag(&self, column: Column) -> Result<bool, Problem> {
        match self.cells.value(column.0) {
            Value::Boolean(flag) => Ok(flag),
            Value::Integer(flag @ (0 | 1)) => Ok(flag == 1),
            _ => Err(self.unexpected(column, C::FLAG)),
        }
    }

    /// Returns an integer of at least `minimum`.
    #[inline]
    pub fn count(&self, column: Column, minimum: u32) -> Result<u32, Problem> {
        match self.cells.value(column.0) {
            Value::Integer(count) if (i64::from(minimum)..=i64::from(u32::MAX)).contains(&count) => Ok(count as u32),
            Value::Text(text) => Err(self
                .problem(format!("`{}` is the text {text:?}", column.1), format!("an integer of at least {minimum}"))),
            _ => Err(self.unexpected(column, format!("an integer of at least {minimum}"))),
        }
    }

    /// Returns a revision, which is 16 bytes, or a UUID as text.
    pub fn revision(&self, column: Column) -> Result<Revision, Problem> {
        let bytes = match self.cells.value(column.0) {
            Value::Bytes(bytes) => <[u8; 16]>::try_from(bytes).ok(),
            Value::Text(text) => uuid::Uuid::try_parse(text).ok().map(uuid::Uuid::into_bytes),
            _ => None,
        };
        bytes.map(Revision::from_bytes).ok_or_else(|| self.unexpected(column, "16 bytes, or a UUID"))
    }

    /// Returns a row of a page, which must be the owner's, and the creation time of its course.
    #[inline]
    pub fn course(&self, owner: Owner<'_>) -> Result<(CourseRow<'r>, Timestamp), Problem> {
        self.check_owner(Page::ACCOUNT_ID, owner)?;
        let course = CourseRow {
            slug: self.slug(Page::SLUG)?,
            title: self.text(Page::TITLE)?,
            language: self.text(Page::LANGUAGE)?,
            published_at: self.optional_time(Page::PUBLISHED_AT)?,
            hidden: self.flag(Page::HIDDEN)?,
            module_count: self.count(Page::MODULE_COUNT, 0)?,
        };
        Ok((course, self.time(Page::CREATED_AT)?))
    }

    /// Returns the course of a row of `account_id`, `slug`, `title`, `tagline`, `language`, `published_at`, `hidden` and
    /// `access_mode`, which must be the owner's.
    pub fn detail(&self, owner: Owner<'_>) -> Result<CourseDetail, Problem> {
        self.check_owner(Column(0, "account_id"), owner)?;
        Ok(CourseDetail {
            slug: self.slug(Column(1, "slug"))?.to_owned(),
            title: self.owned(Column(2, "title"))?,
            tagline: self.owned(Column(3, "tagline"))?,
            language: self.owned(Column(4, "language"))?,
            published_at: self.optional_time(Column(5, "published_at"))?,
            hidden: self.flag(Column(6, "hidden"))?,
            access_mode: self.optional_text(Column(7, "access_mode"))?,
            modules: Vec::new(),
        })
    }

    /// Returns a text, or `None` if it is null.
    pub fn optional_text(&self, column: Column) -> Result<Option<String>, Problem> {
        if self.is_null(column.0) { Ok(None) } else { self.owned(column).map(Some) }
    }

    /// Returns the module of a row of `account_id`, `course_slug`, `title`, `summary` and `number`, which must be the owner's.
    pub fn module(&self, owner: Owner<'_>) -> Result<Module, Problem> {
        self.check_owner(Column(0, "account_id"), owner)?;
        self.text(Column(1, "course_slug"))?;
        Ok(Module {
            number: self.count(Column(4, "number"), 1)?,
            title: self.owned(Column(2, "title"))?,
            summary: self.owned(Column(3, "summary"))?,
        })
    }
}

const EXPECTED_ID: &str = "a text, an integer or a UUID";

//! The list of an account's courses: its rows, and where they stand.

use super::paging::{List, Rows};
use crate::cursor::{CursorPosition, MAX_POSITION};
use crate::model::{CourseListItem, MAX_SLUG_BYTES, is_slug};
use crate::timestamp::Timestamp;

/// A time in a cursor.
const TIME_BYTES: usize = 8;

const _: () = assert!(TIME_BYTES + MAX_SLUG_BYTES <= MAX_POSITION, "the longest slug fits");

/// The list of an account's courses, newest first.
#[derive(Clone, Copy, Debug)]
pub enum CourseList {}

/// Takes the rows of a page of courses. See [`Rows`] for an example.
pub type CourseRows<'r> = Rows<'r, CourseList>;

/// The position of one course in its account's list, by what the list is ordered by: creation time, then slug.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// When the course was created.
    pub created_at: Timestamp,
    /// The course's slug.
    pub slug: String,
}

/// One course in the list, borrowed from where a storage has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CourseRow<'r> {
    /// As [`CourseListItem::slug`].
    pub slug: &'r str,
    /// As [`CourseListItem::title`].
    pub title: &'r str,
    /// As [`CourseListItem::language`].
    pub language: &'r str,
    /// As [`CourseListItem::published_at`].
    pub published_at: Option<Timestamp>,
    /// As [`CourseListItem::hidden`].
    pub hidden: bool,
    /// As [`CourseListItem::module_count`].
    pub module_count: u32,
}

impl List for CourseList {
    type Row<'r> = CourseRow<'r>;
    type Position = Position;
}

/// Creation time and slug.
impl CursorPosition for Position {
    const LAYOUT: u8 = 1;

    fn write(&self, bytes: &mut Vec<u8>) -> Option<()> {
        bytes.extend_from_slice(&self.created_at.as_microseconds().to_be_bytes());
        bytes.extend_from_slice(self.slug.as_bytes());
        is_slug(&self.slug).then_some(())
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (time, slug) = bytes.split_first_chunk::<TIME_BYTES>()?;
        let slug = std::str::from_utf8(slug).ok().filter(|slug| is_slug(slug))?;
        Some(Self { created_at: Timestamp::from_microseconds(i64::from_be_bytes(*time))?, slug: slug.to_owned() })
    }
}

impl CourseListItem {
    /// The course as a row of the list, without its texts being copied.
    #[must_use]
    pub fn row(&self) -> CourseRow<'_> {
        let &Self { ref slug, ref title, ref language, published_at, hidden, module_count } = self;
        CourseRow { slug, title, language, published_at, hidden, module_count }
    }
}

impl From<CourseRow<'_>> for CourseListItem {
    fn from(row: CourseRow<'_>) -> Self {
        Self {
            slug: row.slug.to_owned(),
            title: row.title.to_owned(),
            language: row.language.to_owned(),
            published_at: row.published_at,
            hidden: row.hidden,
            module_count: row.module_count,
        }
    }
}

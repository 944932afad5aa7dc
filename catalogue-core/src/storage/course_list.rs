//! The list of an account's courses: its rows, and where they stand.

use crate::model::CourseListItem;
use crate::timestamp::Timestamp;

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

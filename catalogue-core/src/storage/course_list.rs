//! The list of an account's courses: its rows and their positions.

use crate::model::CourseListItem;
use crate::timestamp::Timestamp;

/// Position of a course in its account's list, by the values that order the list: creation time, then slug.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// When the course was created.
    pub created_at: Timestamp,
    /// The course's slug.
    pub slug: String,
}

/// One course in the list, borrowed from the storage's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CourseRow<'r> {
    /// See [`CourseListItem::slug`].
    pub slug: &'r str,
    /// See [`CourseListItem::title`].
    pub title: &'r str,
    /// See [`CourseListItem::language`].
    pub language: &'r str,
    /// See [`CourseListItem::published_at`].
    pub published_at: Option<Timestamp>,
    /// See [`CourseListItem::hidden`].
    pub hidden: bool,
    /// See [`CourseListItem::module_count`].
    pub module_count: u32,
}

impl CourseListItem {
    /// Returns the course as a row of the list, without copying its texts.
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

//! Keyset paging: what page is asked for, what comes back, and where the next one starts.

use std::convert::Infallible;
use std::num::ParseIntError;

use crate::model::CourseListItem;
use crate::timestamp::Timestamp;

/// How many items a page holds at most: 1 to 100, 50 where the caller does not say (section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Limit(u8);

impl Limit {
    /// The smallest page.
    pub const MIN: Self = Self(1);
    /// The largest page.
    pub const MAX: Self = Self(100);
    /// The page of a caller who does not say.
    pub const DEFAULT: Self = Self(50);

    /// A limit, or `None` outside [`MIN`](Self::MIN) to [`MAX`](Self::MAX). It is never clamped.
    #[must_use]
    pub const fn new(limit: u8) -> Option<Self> {
        if limit < Self::MIN.0 || limit > Self::MAX.0 {
            return None;
        }
        Some(Self(limit))
    }

    /// The limit as a number.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0 as usize
    }

    /// Reads a query parameter: ASCII digits alone, in the bounds (decision R7).
    pub(crate) fn parse(text: &str) -> Result<Self, LimitError> {
        if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
            return Err(LimitError::NotAnInteger);
        }
        // Digits alone fail to parse only where they are too many.
        let number: Result<u8, ParseIntError> = text.parse();
        number.ok().and_then(Self::new).ok_or(LimitError::OutOfRange)
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Why a text is no [`Limit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitError {
    NotAnInteger,
    OutOfRange,
}

/// The place of one course in its account's list, by what the list is ordered by: creation time, then slug.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// When the course was created.
    pub created_at: Timestamp,
    /// The course's slug.
    pub slug: String,
}

/// Which page of a list is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PageRequest {
    /// How many items at most.
    pub limit: Limit,
    /// The page starts right after this place, whether or not a course still stands there; at the start if `None`.
    pub after: Option<Position>,
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// At most as many items as were asked for, in the list's order.
    pub items: Vec<T>,
    /// The place of the last item when more items follow; `None` exactly when none does.
    pub next: Option<Position>,
}

impl Page<CourseListItem> {
    /// A page out of one row more than asked for, which tells whether another page follows.
    ///
    /// `rows` are courses with their creation times, in the list's order. `limit + 1` are enough; further ones are left
    /// alone.
    ///
    /// ```
    /// use catalogue_core::{CourseListItem, Limit, Page, Timestamp};
    ///
    /// let row = |slug: &str, second: i64| {
    ///     let item = CourseListItem {
    ///         slug: slug.to_owned(),
    ///         title: String::new(),
    ///         language: "en".to_owned(),
    ///         published_at: None,
    ///         hidden: false,
    ///         module_count: 0,
    ///     };
    ///     (item, Timestamp::from_microseconds(second * 1_000_000).unwrap())
    /// };
    /// let page = Page::from_rows([row("c", 3), row("b", 2), row("a", 1)], Limit::new(2).unwrap());
    /// assert_eq!(page.items.len(), 2);
    /// assert_eq!(page.next.unwrap().slug, "b");
    /// ```
    pub fn from_rows(rows: impl IntoIterator<Item = (CourseListItem, Timestamp)>, limit: Limit) -> Self {
        let rows = rows.into_iter().map(Ok::<_, Infallible>);
        Self::try_from_rows(rows, limit).unwrap_or_else(|never| match never {})
    }

    /// The same from rows that may fail to be read.
    ///
    /// # Errors
    /// The first error among the rows.
    pub fn try_from_rows<E>(
        rows: impl IntoIterator<Item = Result<(CourseListItem, Timestamp), E>>,
        limit: Limit,
    ) -> Result<Self, E> {
        let mut items: Vec<CourseListItem> = Vec::with_capacity(limit.get());
        let mut last = None;
        for row in rows {
            let (item, created_at) = row?;
            if items.len() == limit.get() {
                let next = items.last().zip(last);
                let next = next.map(|(item, created_at)| Position { created_at, slug: item.slug.clone() });
                return Ok(Self { items, next });
            }
            items.push(item);
            last = Some(created_at);
        }
        Ok(Self { items, next: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_is_digits_alone_within_its_bounds() {
        for text in ["-1", "+5", "1.5", "", " 5", "5 ", "0x5", "١", "５", "1e1"] {
            assert_eq!(Limit::parse(text), Err(LimitError::NotAnInteger), "{text:?}");
        }
        for text in ["0", "00", "101", "256", "99999999999999999999999"] {
            assert_eq!(Limit::parse(text), Err(LimitError::OutOfRange), "{text:?}");
        }
        for (text, limit) in [("1", 1), ("50", 50), ("100", 100), ("007", 7)] {
            assert_eq!(Limit::parse(text).map(Limit::get), Ok(limit));
        }
    }

    #[test]
    fn a_page_of_exactly_the_limit_is_the_last() {
        let row = |second: i64| {
            let item = CourseListItem {
                slug: format!("s{second}"),
                title: String::new(),
                language: String::new(),
                published_at: None,
                hidden: false,
                module_count: 0,
            };
            (item, Timestamp::from_microseconds(second).unwrap())
        };
        let limit = Limit::new(2).unwrap();
        assert_eq!(Page::from_rows([row(2), row(1)], limit).next, None);
        let next = Position { created_at: row(2).1, slug: "s2".to_owned() };
        assert_eq!(Page::from_rows([row(3), row(2), row(1)], limit).next, Some(next));
        assert_eq!(Page::from_rows([], limit), Page { items: vec![], next: None });
        assert_eq!(Page::try_from_rows([Ok(row(2)), Err("broken")], limit), Err("broken"));
    }
}

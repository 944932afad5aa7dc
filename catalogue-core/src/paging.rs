//! Keyset paging: what page is asked for, what comes back, and where the next one starts.

use std::num::ParseIntError;

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

impl<T> Page<T> {
    /// A page out of one row more than asked for, which tells whether another page follows.
    ///
    /// `rows` are in the list's order and at most `limit + 1`.
    ///
    /// ```
    /// use catalogue_core::{Limit, Page, Position, Timestamp};
    ///
    /// let at = |second: i64| Timestamp::from_microseconds(second * 1_000_000).unwrap();
    /// let rows = [(3, "c"), (2, "b"), (1, "a")].map(|(second, slug)| {
    ///     (slug, Position { created_at: at(second), slug: slug.to_owned() })
    /// });
    /// let page = Page::from_rows(rows, Limit::new(2).unwrap());
    /// assert_eq!(page.items, ["c", "b"]);
    /// assert_eq!(page.next, Some(Position { created_at: at(2), slug: "b".to_owned() }));
    /// ```
    pub fn from_rows(rows: impl IntoIterator<Item = (T, Position)>, limit: Limit) -> Self {
        let mut items = Vec::with_capacity(limit.get());
        let mut last = None;
        for (item, position) in rows {
            if items.len() == limit.get() {
                return Self { items, next: last };
            }
            items.push(item);
            last = Some(position);
        }
        Self { items, next: None }
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
        let row = |n: i64| (n, Position { created_at: Timestamp::from_microseconds(n).unwrap(), slug: "s".into() });
        let limit = Limit::new(2).unwrap();
        assert_eq!(Page::from_rows([row(2), row(1)], limit).next, None);
        assert_eq!(Page::from_rows([row(3), row(2), row(1)], limit).next, Some(row(2).1));
        assert_eq!(Page::<i64>::from_rows([], limit), Page { items: vec![], next: None });
    }
}

//! Keyset pagination: the requested page, its rows, and where the next one starts.

use std::convert::Infallible;
use std::fmt;
use std::ops::ControlFlow;

use super::course_list::{CourseRow, Position};

/// Maximum number of items on a page: 1 to 100, 50 by default (section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Limit(u8);

impl Limit {
    /// The smallest limit.
    pub const MIN: Self = Self(1);
    /// The largest limit.
    pub const MAX: Self = Self(100);
    /// The limit of a request that names none.
    pub const DEFAULT: Self = Self(50);

    /// Creates a limit, or returns `None` outside [`MIN`](Self::MIN) to [`MAX`](Self::MAX): a limit is never clamped.
    #[must_use]
    pub const fn new(limit: u8) -> Option<Self> {
        if limit < Self::MIN.0 || limit > Self::MAX.0 {
            return None;
        }
        Some(Self(limit))
    }

    /// Returns the limit as a number.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Request for one page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PageRequest {
    /// Maximum number of items.
    pub limit: Limit,
    /// Position right after which the page starts, whether or not an item is still there; `None` for the first page.
    pub after: Option<Position>,
}

impl PageRequest {
    /// Returns the number of rows to read: one more than the page holds, to find out whether another page follows.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.limit.get() + 1
    }
}

/// Receiver of the rows of a page in the list's order, and of one row beyond the page. [`CourseStorage`](super::CourseStorage)
/// has an example.
pub struct CourseRows<'r> {
    limit: usize,
    count: usize,
    /// Position of the page's last row, once the page is full.
    last: Option<Position>,
    has_more: bool,
    sink: &'r mut (dyn FnMut(CourseRow<'_>) + Send),
}

impl<'r> CourseRows<'r> {
    /// Creates a receiver that passes up to `limit` rows to `sink`.
    pub fn new(limit: Limit, sink: &'r mut (dyn FnMut(CourseRow<'_>) + Send)) -> Self {
        Self { limit: limit.get(), count: 0, last: None, has_more: false, sink }
    }

    /// Takes the next row. Returns [`ControlFlow::Break`] if the page is full: the row then only shows that another page
    /// follows, and no further row is needed.
    ///
    /// `position` is called only for the page's last row, after which the next page starts.
    pub fn push(&mut self, row: CourseRow<'_>, position: impl FnOnce() -> Position) -> ControlFlow<()> {
        let Ok(flow) = self.try_push(row, || Ok::<_, Infallible>(position()));
        flow
    }

    /// Like [`push`](Self::push), but for a position whose reading may fail.
    ///
    /// # Errors
    /// Returns the error of `position`.
    #[inline]
    pub fn try_push<E>(
        &mut self,
        row: CourseRow<'_>,
        position: impl FnOnce() -> Result<Position, E>,
    ) -> Result<ControlFlow<()>, E> {
        if self.count == self.limit {
            self.has_more = true;
            return Ok(ControlFlow::Break(()));
        }
        self.count += 1;
        if self.count == self.limit {
            self.last = Some(position()?);
        }
        (self.sink)(row);
        Ok(ControlFlow::Continue(()))
    }

    /// Returns where the next page starts: the position of the page's last row. `None` if no row beyond the page was
    /// pushed.
    #[must_use]
    pub fn next(self) -> Option<Position> {
        self.last.filter(|_| self.has_more)
    }
}

impl fmt::Debug for CourseRows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CourseRows").field("limit", &self.limit).field("count", &self.count).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timestamp::Timestamp;

    /// Returns the numbers of the rows on the page, and the number after which the next page starts.
    fn page(limit: u8, rows: u32) -> (Vec<u32>, Option<String>) {
        let mut numbers = Vec::new();
        let mut sink = |row: CourseRow<'_>| numbers.push(row.module_count);
        let mut page = CourseRows::new(Limit::new(limit).unwrap(), &mut sink);
        let beyond = (0..rows).find(|&module_count| {
            let row = CourseRow { slug: "", title: "", language: "", published_at: None, hidden: false, module_count };
            let position = || Position { created_at: Timestamp::MIN, slug: module_count.to_string() };
            page.push(row, position).is_break()
        });
        assert_eq!(beyond, (rows > limit.into()).then_some(limit.into()));
        let next = page.next().map(|position| position.slug);
        (numbers, next)
    }

    #[test]
    fn exactly_full_page_is_the_last() {
        assert_eq!(page(2, 0), (vec![], None));
        assert_eq!(page(2, 1), (vec![0], None));
        assert_eq!(page(2, 2), (vec![0, 1], None));
        assert_eq!(page(2, 3), (vec![0, 1], Some("1".into())));
        assert_eq!(page(2, 100), (vec![0, 1], Some("1".into())));
        assert_eq!(page(1, 2), (vec![0], Some("0".into())));
    }
}

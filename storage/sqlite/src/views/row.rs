//! Conversion of SQLite's rows to [`ViewRow`]s.

use catalogue_core::storage::views::{Cells, Value, ViewProblem, ViewRow};
use rusqlite::types::{Type, ValueRef};
use rusqlite::{Error, Row};

use crate::row_buffer::Columns;

impl<'r> Cells<'r> for Columns<'r> {
    const TIME: &'static str =
        "an integer of microseconds since 1970, or a text like `2026-01-02T03:04:05Z` or `2026-01-02 03:04:05.123456`";
    const FLAG: &'static str = "0 or 1";

    /// Always inlined, as reading columns takes a good part of a page's time.
    #[inline(always)]
    fn value(self, position: usize) -> Value<'r> {
        match Columns::value(&self, position) {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => Value::Integer(number),
            ValueRef::Real(_) => Value::Other("a real number"),
            ValueRef::Text(_) => self.text(position).map_or(Value::Other("not UTF-8"), Value::Text),
            ValueRef::Blob(bytes) => Value::Bytes(bytes),
        }
    }
}

/// Returns `row` as a row of `view` that messages identify by the columns `key`.
pub(super) fn view_row<'r>(view: &'static str, row: &'r Row<'r>, key: &'static [usize]) -> ViewRow<Columns<'r>> {
    ViewRow { view, cells: row.into(), key }
}

/// Converts a problem of a row into an error of reading, with the problem as its source.
pub(super) fn invalid_row(problem: Box<ViewProblem>) -> Error {
    Error::FromSqlConversionFailure(0, Type::Null, problem)
}

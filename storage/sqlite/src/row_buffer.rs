//! [`collect`]: buffers the rows of a page through an SQL function.
//!
//! Reading a page's columns one by one needs four SQLite calls each, and takes as long as finding the rows. An SQL function
//! gets all values of a row in one call. It copies them and returns the row's number, so that the order is known even if SQLite
//! sorts the rows later.

use std::cell::{Cell, RefCell};
use std::{slice, str};

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{FromSql, FromSqlResult, ValueRef};
use rusqlite::{Connection, Row, Rows};

/// Maximum capacity, in bytes, that the values and the texts of a thread each keep from page to page.
const MAX_RETAINED_BYTES: usize = 256 << 10;

thread_local! {
    /// Rows of the statement that runs on this thread.
    static ROW_BUFFER: RefCell<RowBuffer> = RefCell::default();
    /// Number of rows in [`ROW_BUFFER`].
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// Buffer with the values of rows, one after the other.
#[derive(Default)]
struct RowBuffer {
    values: Vec<Value>,
    /// Bytes of all texts and blobs.
    bytes: Vec<u8>,
    /// Position of each row's first value.
    rows: Vec<usize>,
}

#[derive(Clone, Copy)]
enum Value {
    Null,
    Integer(i64),
    Real(f64),
    /// Start and end in `bytes`.
    Text((usize, usize)),
    Blob((usize, usize)),
}

/// Lets statements of `connection` call `catalogue_row(…)`, for [`collect`].
pub(crate) fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function("catalogue_row", -1, flags, |context| {
        ROW_BUFFER.with_borrow_mut(|buffer| buffer.push_row(context))
    })
}

/// Passes to `consume` the first `limit` rows of a statement that selects only a `catalogue_row(…)`.
pub(crate) fn collect<T>(
    mut rows: Rows<'_>,
    limit: usize,
    consume: impl FnOnce(BufferedRows<'_>) -> T,
) -> rusqlite::Result<T> {
    ROW_BUFFER.with_borrow_mut(RowBuffer::clear);
    COUNT.set(0);
    let mut order = Vec::with_capacity(limit);
    let mut is_in_order = true;
    while order.len() < limit
        && let Some(row) = rows.next()?
    {
        // While each row directly follows its call of the function, its number is known without the slow `row.get`.
        is_in_order &= COUNT.get() == order.len() + 1;
        order.push(if is_in_order { order.len() as u32 } else { row.get(0)? });
    }
    drop(rows);
    ROW_BUFFER.with_borrow(|buffer| {
        let text = str::from_utf8(&buffer.bytes).ok();
        Ok(consume(BufferedRows { buffer, text, order: order.iter() }))
    })
}

impl RowBuffer {
    fn push_row(&mut self, context: &Context<'_>) -> rusqlite::Result<i64> {
        self.rows.push(self.values.len());
        for column in 0..context.len() {
            let value = match context.get_raw(column) {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(number) => Value::Integer(number),
                ValueRef::Real(number) => Value::Real(number),
                ValueRef::Text(text) => Value::Text(self.add(text)),
                ValueRef::Blob(blob) => Value::Blob(self.add(blob)),
            };
            self.values.push(value);
        }
        COUNT.set(self.rows.len());
        Ok(self.rows.len() as i64 - 1)
    }

    fn add(&mut self, bytes: &[u8]) -> (usize, usize) {
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        (begin, self.bytes.len())
    }

    fn clear(&mut self) {
        self.values.clear();
        self.rows.clear();
        self.bytes.clear();
        self.bytes.shrink_to(MAX_RETAINED_BYTES);
        self.values.shrink_to(MAX_RETAINED_BYTES / size_of::<Value>());
    }
}

/// Iterator over buffered rows, in the order of the statement.
pub(crate) struct BufferedRows<'k> {
    buffer: &'k RowBuffer,
    text: Option<&'k str>,
    order: slice::Iter<'k, u32>,
}

impl<'k> Iterator for BufferedRows<'k> {
    type Item = BufferedRow<'k>;

    fn next(&mut self) -> Option<BufferedRow<'k>> {
        let first = self.buffer.rows[*self.order.next()? as usize];
        Some(BufferedRow { buffer: self.buffer, text: self.text, first })
    }
}

/// A buffered row.
#[derive(Clone, Copy)]
pub(crate) struct BufferedRow<'k> {
    buffer: &'k RowBuffer,
    /// All texts and blobs as one text, if they are UTF-8.
    text: Option<&'k str>,
    first: usize,
}

impl<'k> BufferedRow<'k> {
    /// Returns the value of `column`.
    ///
    /// # Panics
    /// Panics if the function had fewer arguments and the row is the last one. Other rows return a value of the next row.
    #[inline]
    pub(crate) fn value(&self, column: usize) -> ValueRef<'k> {
        match self.buffer.values[self.first + column] {
            Value::Null => ValueRef::Null,
            Value::Integer(number) => ValueRef::Integer(number),
            Value::Real(number) => ValueRef::Real(number),
            Value::Text((begin, end)) => ValueRef::Text(&self.buffer.bytes[begin..end]),
            Value::Blob((begin, end)) => ValueRef::Blob(&self.buffer.bytes[begin..end]),
        }
    }

    /// Returns the text of `column`. Always inlined, as reading columns takes a good part of a page's time.
    #[inline(always)]
    pub(crate) fn text(&self, column: usize) -> FromSqlResult<&'k str> {
        if let (Value::Text((begin, end)), Some(text)) = (self.buffer.values[self.first + column], self.text)
            && let Some(text) = text.get(begin..end)
        {
            return Ok(text);
        }
        self.text_slow_path(column)
    }

    #[cold]
    fn text_slow_path(&self, column: usize) -> FromSqlResult<&'k str> {
        self.value(column).as_str()
    }

    /// Returns the value of `column` as a `T`.
    #[inline]
    pub(crate) fn get<T: FromSql>(&self, column: usize) -> FromSqlResult<T> {
        T::column_result(self.value(column))
    }
}

/// A buffered row, or the current row of a statement.
#[derive(Clone, Copy)]
pub(crate) enum Columns<'r> {
    Buffered(BufferedRow<'r>),
    Current(&'r Row<'r>),
}

impl<'r> Columns<'r> {
    /// Returns the value of `column`.
    ///
    /// # Panics
    /// Panics if the current row has fewer columns. For a buffered row, see [`BufferedRow::value`].
    #[inline(always)]
    pub(crate) fn value(&self, column: usize) -> ValueRef<'r> {
        match self {
            Self::Buffered(row) => row.value(column),
            Self::Current(row) => row.get_ref_unwrap(column),
        }
    }

    #[inline(always)]
    pub(crate) fn text(&self, column: usize) -> FromSqlResult<&'r str> {
        match self {
            Self::Buffered(row) => row.text(column),
            Self::Current(row) => row.get_ref_unwrap(column).as_str(),
        }
    }
}

impl<'r> From<&'r Row<'r>> for Columns<'r> {
    fn from(row: &'r Row<'r>) -> Self {
        Self::Current(row)
    }
}

#[cfg(test)]
mod tests;

//! Rows of views, each value checked: what the API could not serve is a fault with the view and the key of the row.

use std::error::Error;
use std::ops::ControlFlow;

use bytes::BytesMut;
use catalogue_core::storage::{CourseRow, CourseRows, Position, StorageError, StorageErrorKind, ViewFault};
use catalogue_core::{Timestamp, is_slug};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use super::columns::{COURSES, wanted};

/// What PostgreSQL counts microseconds from, 2000-01-01, in those since 1970.
const EPOCH: i64 = 946_684_800_000_000;

/// A time by whichever type a view has; `None` where it is infinite, or not in the years 0000 to 9999.
#[derive(Debug)]
pub(crate) struct Time(Option<Timestamp>);

impl From<Timestamp> for Time {
    fn from(time: Timestamp) -> Self {
        Self(Some(time))
    }
}

impl<'r> FromSql<'r> for Time {
    fn from_sql(ty: &Type, raw: &'r [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        let stored = i64::from_be_bytes(raw.try_into()?);
        let microseconds = if *ty == Type::INT8 { Some(stored) } else { stored.checked_add(EPOCH) };
        Ok(Self(microseconds.and_then(Timestamp::from_microseconds)))
    }

    fn accepts(ty: &Type) -> bool {
        [Type::TIMESTAMPTZ, Type::TIMESTAMP, Type::INT8].contains(ty)
    }
}

impl ToSql for Time {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let epoch = if *ty == Type::INT8 { 0 } else { EPOCH };
        self.0.map(|time| time.as_microseconds() - epoch).to_sql(&Type::INT8, out)
    }

    fn accepts(ty: &Type) -> bool {
        <Self as FromSql>::accepts(ty)
    }

    to_sql_checked!();
}

/// A row of a view, with the key that a fault names it by.
pub(crate) struct ViewRow<'r> {
    pub(crate) row: &'r Row,
    pub(crate) view: &'static str,
    pub(crate) account: &'r str,
    pub(crate) slug: &'r str,
}

impl<'r> ViewRow<'r> {
    /// A value that must be there.
    pub(crate) fn get<T: FromSql<'r>>(&self, column: usize, name: &str) -> Result<T, ViewFault> {
        self.optional(column, name)?.ok_or_else(|| self.fault(format!("`{name}` is null"), "a value"))
    }

    pub(crate) fn optional<T: FromSql<'r>>(&self, column: usize, name: &str) -> Result<Option<T>, ViewFault> {
        // A text is always read: it is cast in the statement.
        let other_type = |_| {
            let found = self.row.columns()[column].type_();
            self.fault(format!("`{name}` is of the type {found}"), wanted(self.view, name))
        };
        self.row.try_get(column).map_err(other_type)
    }

    pub(crate) fn optional_time(&self, column: usize, name: &str) -> Result<Option<Timestamp>, ViewFault> {
        let time =
            |Time(time)| time.ok_or_else(|| self.fault(format!("`{name}` is no time of the API"), "0000 to 9999"));
        self.optional::<Time>(column, name)?.map(time).transpose()
    }

    pub(crate) fn time(&self, column: usize, name: &str) -> Result<Timestamp, ViewFault> {
        self.optional_time(column, name)?.ok_or_else(|| self.fault(format!("`{name}` is null"), "a time"))
    }

    pub(crate) fn fault(&self, what: String, wanted: &str) -> ViewFault {
        fault(self.view, &[self.account, self.slug], what, wanted)
    }
}

pub(crate) fn fault(view: &'static str, key: &[&str], what: String, wanted: &str) -> ViewFault {
    let key: Vec<_> = key.iter().copied().filter(|part| !part.is_empty()).collect();
    ViewFault { view, key: Some(key.join(", ")), what, wanted: wanted.to_owned() }
}

/// The fault as a request meets it.
pub(crate) fn corrupt(fault: &ViewFault) -> StorageError {
    StorageError::new(StorageErrorKind::Corrupt, shown(fault))
}

/// The fault in a line.
pub(crate) fn shown(ViewFault { view, key, what, wanted }: &ViewFault) -> String {
    match key {
        Some(key) => format!("{view}: {what} in the row {key}; it must be {wanted}"),
        None => format!("{view}: {what}; {wanted}"),
    }
}

/// Hands over `slug, title, language, published_at, hidden, module_count, created_at` of that account.
pub(crate) fn push_course(account: &str, row: &Row, rows: &mut CourseRows<'_>) -> Result<ControlFlow<()>, ViewFault> {
    let slug = slug(account, row, 0)?;
    let row = ViewRow { row, view: COURSES, account, slug };
    let modules: i64 = row.get(5, "module_count")?;
    let course = CourseRow {
        slug,
        title: row.get(1, "title")?,
        language: row.get(2, "language")?,
        published_at: row.optional_time(3, "published_at")?,
        hidden: row.get(4, "hidden")?,
        module_count: u32::try_from(modules)
            .map_err(|_| row.fault(format!("`module_count` is {modules}"), "a number from 0"))?,
    };
    let created_at = row.time(6, "created_at")?;
    rows.try_push(course, || Ok(Position { created_at, slug: slug.to_owned() }))
}

/// A slug in `column` that can be a part of a path.
pub(crate) fn slug<'r>(account: &'r str, row: &'r Row, column: usize) -> Result<&'r str, ViewFault> {
    let row = ViewRow { row, view: COURSES, account, slug: "" };
    let slug = row.get(column, "slug")?;
    if is_slug(slug) {
        return Ok(slug);
    }
    let wanted = "1 to 200 bytes without `/` and control characters";
    Err(ViewRow { slug, ..row }.fault(format!("`slug` is {slug:?}"), wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinite_times_and_those_of_other_years_are_none() {
        for stored in [i64::MIN, i64::MAX, -63_113_904_000_000_001, 252_455_616_000_000_000] {
            assert_eq!(Time::from_sql(&Type::TIMESTAMPTZ, &stored.to_be_bytes()).unwrap().0, None, "{stored}");
        }
        for (stored, ty) in [(-EPOCH, Type::TIMESTAMP), (0, Type::INT8)] {
            let time = Time::from_sql(&ty, &stored.to_be_bytes()).unwrap().0;
            assert_eq!(time.map(Timestamp::as_microseconds), Some(0));
        }
    }
}

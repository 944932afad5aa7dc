//! Conversion of PostgreSQL's rows to [`ViewRow`]s.

use std::error::Error;

use bytes::BytesMut;
use catalogue_core::Timestamp;
use catalogue_core::storage::views::{Cells, Value, ViewProblem, ViewRow};
use catalogue_core::storage::{StorageError, StorageErrorKind};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

/// Epoch of PostgreSQL's times, 2000-01-01, in microseconds since 1970.
const EPOCH: i64 = 946_684_800_000_000;

/// A time as a parameter of any type that a view may have for times.
#[derive(Debug)]
pub(crate) struct Time(pub(crate) Timestamp);

impl ToSql for Time {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let epoch = if *ty == Type::INT8 { 0 } else { EPOCH };
        (self.0.as_microseconds() - epoch).to_sql(&Type::INT8, out)
    }

    fn accepts(ty: &Type) -> bool {
        [Type::TIMESTAMPTZ, Type::TIMESTAMP, Type::INT8].contains(ty)
    }

    to_sql_checked!();
}

/// The columns of a row from `first` on.
#[derive(Clone, Copy)]
pub(crate) struct PostgresCells<'r> {
    row: &'r Row,
    first: usize,
}

/// The bytes of a value of any type.
struct Raw<'r>(&'r [u8]);

impl<'r> FromSql<'r> for Raw<'r> {
    fn from_sql(_: &Type, raw: &'r [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl<'r> Cells<'r> for PostgresCells<'r> {
    const TIME: &'static str = "a timestamptz, a timestamp (read as UTC), or a bigint (microseconds since 1970), in the years \
                                0000 to 9999";
    const FLAG: &'static str = "a boolean";

    fn value(self, position: usize) -> Value<'r> {
        let position = self.first + position;
        let Ok(Some(Raw(raw))) = self.row.try_get::<_, Option<Raw<'r>>>(position) else { return Value::Null };
        value(self.row.columns()[position].type_(), raw)
    }
}

fn value<'r>(ty: &'r Type, raw: &'r [u8]) -> Value<'r> {
    let typed = Value::Typed(ty.name());
    match *ty {
        // Statements cast texts and numbers to the first two types.
        Type::TEXT => std::str::from_utf8(raw).map_or(typed, Value::Text),
        Type::INT8 => raw.try_into().map_or(typed, |raw| Value::Integer(i64::from_be_bytes(raw))),
        Type::BOOL => Value::Boolean(raw == [1]),
        Type::UUID | Type::BYTEA => Value::Bytes(raw),
        Type::TIMESTAMPTZ | Type::TIMESTAMP => raw.try_into().map_or(typed, |raw| {
            let time = i64::from_be_bytes(raw).checked_add(EPOCH).and_then(Timestamp::from_microseconds);
            time.map_or(Value::Other("infinite or outside the years 0000 to 9999"), Value::Time)
        }),
        _ => typed,
    }
}

/// Returns the columns of a row from `first` on, as a row of `view` that messages identify by the columns `key`.
pub(crate) fn view_row<'r>(
    view: &'static str,
    row: &'r Row,
    first: usize,
    key: &'static [usize],
) -> ViewRow<PostgresCells<'r>> {
    ViewRow { view, cells: PostgresCells { row, first }, key }
}

/// Converts a problem to the error that a request returns.
pub(crate) fn corrupt(problem: impl Into<Box<ViewProblem>>) -> StorageError {
    StorageError::new(StorageErrorKind::Corrupt, problem.into().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinite_and_out_of_range_times_are_invalid() {
        for stored in [i64::MIN, i64::MAX, -63_113_904_000_000_001, 252_455_616_000_000_000] {
            let raw = stored.to_be_bytes();
            assert!(matches!(value(&Type::TIMESTAMPTZ, &raw), Value::Other(_)), "{stored}");
        }
        let epoch = Timestamp::from_microseconds(0).unwrap();
        assert_eq!(value(&Type::TIMESTAMP, &(-EPOCH).to_be_bytes()), Value::Time(epoch));
        assert_eq!(value(&Type::INT8, &0_i64.to_be_bytes()), Value::Integer(0));
    }
}

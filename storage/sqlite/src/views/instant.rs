//! Instants of another program: in SQL, to order by, and as they are read.

use std::borrow::Cow;

use catalogue_core::Timestamp;
use rusqlite::types::ValueRef;

/// The SQL expression for the instant of a column, in microseconds. What SQLite cannot
/// convert is earlier than all instants.
///
/// It is deterministic, so an index can have it. The fraction is cut before `strftime` sees it, which would round.
macro_rules! instant {
    ($column:expr) => {
        concat!(
            "coalesce(CASE typeof(",
            $column,
            ") WHEN 'integer' THEN ",
            $column,
            " WHEN 'text' THEN CAST(strftime('%s', substr(",
            $column,
            ", 1, 19) || ltrim(substr(",
            $column,
            ", 20), '.0123456789')) AS INTEGER) * 1000000 + CAST(round(CAST('0' || substr(",
            $column,
            ", 20, 7) AS REAL) * 1000000) AS INTEGER) END, -1000000000000000000)"
        )
    };
}
pub(super) use instant;

/// What a time may be, for those who have another.
pub(super) const WANTED: &str =
    "an integer of microseconds since 1970, or a text like `2026-01-02T03:04:05Z` or `2026-01-02 03:04:05.123456`";

/// The same of any expression.
pub(super) fn of(expression: &str) -> String {
    instant!("@").replace('@', expression)
}

/// The instant that a value says: an integer of microseconds, or a text of RFC 3339, perhaps with a blank before the time and
/// then without an offset, which means UTC.
pub(super) fn read(value: ValueRef<'_>) -> Option<Timestamp> {
    match value {
        ValueRef::Integer(microseconds) => Timestamp::from_microseconds(microseconds),
        ValueRef::Text(text) => parse(std::str::from_utf8(text).ok()?),
        _ => None,
    }
}

fn parse(text: &str) -> Option<Timestamp> {
    let mut text = Cow::Borrowed(text);
    if text.as_bytes().get(10) == Some(&b' ') {
        text.to_mut().replace_range(10..11, "T");
        if text.as_bytes().iter().skip(19).all(|byte| matches!(byte, b'.' | b'0'..=b'9')) {
            text.to_mut().push('Z');
        }
    }
    Timestamp::parse(&text).ok()
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use rusqlite::types::Value;

    use super::*;

    fn in_sql(value: &Value) -> i64 {
        let sql = concat!("SELECT ", instant!("t"), " FROM (SELECT ?1 AS t)");
        Connection::open_in_memory().unwrap().query_row(sql, [value], |row| row.get(0)).unwrap()
    }

    #[test]
    fn sql_and_rust_read_the_same_instant() {
        for (text, exact) in [
            ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
            ("2026-01-02T03:04:05.999999Z", "2026-01-02T03:04:05.999999Z"),
            ("2026-01-02T03:04:05.9999999Z", "2026-01-02T03:04:05.999999Z"),
            ("2026-01-02T03:04:05.5+00:00", "2026-01-02T03:04:05.500Z"),
            ("2026-01-02T05:34:05.678+02:30", "2026-01-02T03:04:05.678Z"),
            ("2026-01-02 03:04:05", "2026-01-02T03:04:05Z"),
            ("2026-01-02 03:04:05.678901", "2026-01-02T03:04:05.678901Z"),
            ("2026-01-02 03:04:05.678901+00:00", "2026-01-02T03:04:05.678901Z"),
            ("2024-02-29 23:59:59.9", "2024-02-29T23:59:59.900Z"),
            ("1969-12-31 23:59:59.999999", "1969-12-31T23:59:59.999999Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
            ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
        ] {
            let read = read(ValueRef::Text(text.as_bytes())).unwrap();
            assert_eq!(read.to_exact_string(), exact, "{text}");
            assert_eq!(in_sql(&text.to_owned().into()), read.as_microseconds(), "{text}");
        }
        for microseconds in
            [Timestamp::MIN, Timestamp::MAX].map(Timestamp::as_microseconds).into_iter().chain([-1, 0, 1])
        {
            assert_eq!(in_sql(&microseconds.into()), microseconds);
            assert_eq!(read(ValueRef::Integer(microseconds)).unwrap().as_microseconds(), microseconds);
        }
    }

    #[test]
    fn each_microsecond_is_kept() {
        for microseconds in (0..1_000_000).step_by(997).chain([999_999]) {
            let text = format!("2026-01-02 03:04:05.{microseconds:06}");
            let read = read(ValueRef::Text(text.as_bytes())).unwrap();
            assert_eq!(read.as_microseconds().rem_euclid(1_000_000), microseconds);
            assert_eq!(in_sql(&text.into()), read.as_microseconds());
        }
    }

    #[test]
    fn what_is_no_instant_comes_last() {
        let texts = ["", "yesterday", "2026-13-02 03:04:05"].map(|text| Value::Text(text.to_owned()));
        for value in texts.into_iter().chain([Value::Null, Value::Real(1.5), Value::Blob(vec![1])]) {
            assert_eq!(read(ValueRef::from(&value)), None, "{value:?}");
            assert!(in_sql(&value) < Timestamp::MIN.as_microseconds(), "{value:?}");
        }
        for text in [
            "2026-01-02",
            "03:04:05",
            "2026-01-02T03:04:05",
            "2026-02-30 03:04:05",
            "2026-01-02 03:04:05x",
            "2026-01-02 03:04:05.",
        ] {
            assert_eq!(read(ValueRef::Text(text.as_bytes())), None, "{text}");
        }
    }
}

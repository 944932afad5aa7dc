use catalogue_core::Timestamp;
use catalogue_core::storage::views::{Cells, Column, Value as ViewValue, ViewRow};
use rusqlite::Connection;
use rusqlite::types::{Value, ValueRef};

/// Row with a single value.
#[derive(Clone, Copy)]
struct SingleValue<'v>(ValueRef<'v>);

impl<'v> Cells<'v> for SingleValue<'v> {
    const TIME: &'static str = "";
    const FLAG: &'static str = "";

    fn value(self, _: usize) -> ViewValue<'v> {
        match self.0 {
            ValueRef::Integer(number) => ViewValue::Integer(number),
            ValueRef::Text(text) => ViewValue::Text(std::str::from_utf8(text).unwrap()),
            _ => ViewValue::Null,
        }
    }
}

fn read(value: ValueRef<'_>) -> Option<Timestamp> {
    ViewRow { view: "", cells: SingleValue(value), key: &[] }.time(Column(0, "t")).ok()
}

fn in_sql(value: &Value) -> i64 {
    let sql = concat!("SELECT ", instant!("t"), " FROM (SELECT ?1 AS t)");
    Connection::open_in_memory().unwrap().query_row(sql, [value], |row| row.get(0)).unwrap()
}

#[test]
fn sql_and_rust_parse_same_instant() {
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
    for microseconds in [Timestamp::MIN, Timestamp::MAX].map(Timestamp::as_microseconds).into_iter().chain([-1, 0, 1]) {
        assert_eq!(in_sql(&microseconds.into()), microseconds);
        assert_eq!(read(ValueRef::Integer(microseconds)).unwrap().as_microseconds(), microseconds);
    }
}

/// Tests the first and last days of each month of some years, in the three formats without a numeric offset.
#[test]
fn each_text_format_parses_to_same_instant() {
    let connection = Connection::open_in_memory().unwrap();
    let sql = concat!("SELECT ", instant!("t"), " FROM (SELECT ?1 AS t)");
    let mut in_sql = connection.prepare(sql).unwrap();
    for (year, month, day) in [0, 1969, 1970, 2000, 2024, 2100, 9999]
        .into_iter()
        .flat_map(|year| (1..=12).flat_map(move |month| [1, 28, 29, 30, 31].map(|day| (year, month, day))))
    {
        for fraction in ["", ".5", ".123", ".000001", ".999999"] {
            let text = format!("{year:04}-{month:02}-{day:02}T23:59:59{fraction}Z");
            let Ok(expected) = Timestamp::parse(&text) else { continue };
            for text in [text.replace('T', " "), text.replace('T', " ").replace('Z', ""), text] {
                assert_eq!(read(ValueRef::Text(text.as_bytes())), Some(expected), "{text}");
                let found: i64 = in_sql.query_row([&text], |row| row.get(0)).unwrap();
                assert_eq!(found, expected.as_microseconds(), "{text}");
            }
        }
    }
}

#[test]
fn microseconds_are_preserved() {
    for microseconds in (0..1_000_000).step_by(997).chain([999_999]) {
        let text = format!("2026-01-02 03:04:05.{microseconds:06}");
        let read = read(ValueRef::Text(text.as_bytes())).unwrap();
        assert_eq!(read.as_microseconds().rem_euclid(1_000_000), microseconds);
        assert_eq!(in_sql(&text.into()), read.as_microseconds());
    }
}

#[test]
fn invalid_instants_are_refused_and_unconvertible_ones_sort_last() {
    let texts = ["", "yesterday", "2026-13-02 03:04:05"].map(|text| Value::Text(text.to_owned()));
    let blobs = [vec![1], b"2026-01-02 03:04:05".to_vec(), b"2026-01-02T03:04:05+00:00".to_vec()].map(Value::Blob);
    for value in texts.into_iter().chain(blobs).chain([Value::Null, Value::Real(1.5)]) {
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

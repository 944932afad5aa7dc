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
    for microseconds in [Timestamp::MIN, Timestamp::MAX].map(Timestamp::as_microseconds).into_iter().chain([-1, 0, 1]) {
        assert_eq!(in_sql(&microseconds.into()), microseconds);
        assert_eq!(read(ValueRef::Integer(microseconds)).unwrap().as_microseconds(), microseconds);
    }
}

#[test]
fn the_usual_texts_are_read_as_by_rfc_3339() {
    let days = (Timestamp::MIN.as_microseconds() / 1_000_000 / 86_400..).step_by(41).take_while(|day| *day < 2_932_897);
    for day in days {
        let instant = Timestamp::from_microseconds(day * 86_400_000_000 + day.rem_euclid(86_400) * 1_000_001).unwrap();
        let text = instant.to_exact_string();
        assert_eq!(parse_usual(text.as_bytes()), Some(instant), "{text}");
        let text = text.replace('T', " ");
        assert_eq!(parse_usual(text.as_bytes()), Some(instant), "{text}");
        assert_eq!(parse_usual(text.trim_end_matches('Z').as_bytes()), Some(instant), "{text}");
    }
    let text = "2024-02-29 23:59:59.123456Z";
    for (place, byte) in (0..text.len()).flat_map(|place| (b' '..=b'z').map(move |byte| (place, byte))) {
        let mut changed = text.as_bytes().to_vec();
        changed[place] = byte;
        if let Some(instant) = parse_usual(&changed) {
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(parse(&changed), Some(instant), "{changed}");
        }
    }
}

/// In each form, and with one byte changed: what is read as usual is what the general parser and SQLite read.
#[test]
fn usual_texts_are_one_instant_for_all() {
    let connection = Connection::open_in_memory().unwrap();
    let sql = concat!("SELECT ", instant!("t"), " FROM (SELECT ?1 AS t)");
    let mut in_sql = connection.prepare(sql).unwrap();
    let mut random = 1_u64;
    let mut below = |end: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % end
    };
    let (mut usual, mut others) = (0, 0);
    for _ in 0..30_000 {
        let year = [below(10_000), 1900 + 100 * below(4), 2024][below(3) as usize];
        let time = format!("{:02}:{:02}:{:02}", below(24), below(60), below(60));
        let mut text = format!("{year:04}-{:02}-{:02}T{time}", 1 + below(12), 1 + below(31));
        let digits = below(7) as usize;
        if digits > 0 {
            text += &format!(".{:06}", below(1_000_000))[..=digits];
        }
        let forms = [format!("{text}Z"), text.replace('T', " ") + "Z", text.replace('T', " ")];
        let mut text = forms[below(3) as usize].clone().into_bytes();
        let is_changed = below(2) == 0;
        if is_changed {
            let place = below(text.len() as u64) as usize;
            text[place] = if below(2) == 0 { b'-' + below(14) as u8 } else { below(128) as u8 };
        }
        let text = String::from_utf8(text).unwrap();
        let (as_usual, in_general) = (parse_usual(text.as_bytes()), parse(&text));
        match as_usual {
            Some(instant) => {
                let in_sql: i64 = in_sql.query_row([&text], |row| row.get(0)).unwrap();
                assert_eq!((in_general, in_sql), (as_usual, instant.as_microseconds()), "{text}");
                usual += 1;
            }
            None if !is_changed => assert_eq!(in_general, None, "{text}"),
            None => others += 1,
        }
    }
    assert!(usual > 15_000 && others > 5_000, "{usual} {others}");
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

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
#[inline]
pub(super) fn read(value: ValueRef<'_>) -> Option<Timestamp> {
    read_usual(value).or_else(|| match value {
        ValueRef::Text(text) => parse(std::str::from_utf8(text).ok()?),
        _ => None,
    })
}

/// The same of what most programs write: there SQLite's instant is that very one.
#[inline]
pub(super) fn read_usual(value: ValueRef<'_>) -> Option<Timestamp> {
    match value {
        ValueRef::Integer(microseconds) => Timestamp::from_microseconds(microseconds),
        ValueRef::Text(text) => parse_usual(text),
        _ => None,
    }
}

/// UTC, with six digits of a fraction at most. A page has two times for each course, so eight bytes are looked at at once.
fn parse_usual(text: &[u8]) -> Option<Timestamp> {
    const DATE: Shape = Shape::of(b"0000-00-");
    const TIME: Shape = Shape::of(b"00:00:00");
    const DIGITS: Shape = Shape::of(b"00000000");

    let (head, rest) = text.split_first_chunk::<19>()?;
    let length = match (head[10], rest) {
        (b'T' | b' ', [fraction @ .., b'Z']) => fraction.len(),
        (b' ', _) => rest.len(),
        _ => return None,
    };
    let fraction = match length {
        0 => 0,
        // Its digits are the last of eight bytes. What stands before them is shifted out, and what comes in is 0.
        2..=7 if rest[0] == b'.' => {
            let pairs = DIGITS.pairs(*text[..19 + length].last_chunk()?, 72 - 8 * length)?;
            i64::from(pairs[0]) * 10_000 + i64::from(pairs[2]) * 100 + i64::from(pairs[4])
        }
        _ => return None,
    };
    let (date, time) = (DATE.pairs(*head.first_chunk()?, 0)?, TIME.pairs(*head.last_chunk()?, 0)?);
    let [year, month] = [i64::from(date[0]) * 100 + i64::from(date[2]), i64::from(date[5])];
    let [hour, minute, second] = [time[0], time[3], time[6]].map(i64::from);
    let day = number(&head[8..10])?;
    let is_time = (hour <= 23) & (minute <= 59) & (second <= 59);
    let is_day = (1..=12).contains(&month) && (1..=31).contains(&day) && (day <= 28 || is_in_month(year, month, day));
    if !(is_day && is_time) {
        return None;
    }
    let seconds = (((first_of(year, month) + day - 1) * 24 + hour) * 60 + minute) * 60 + second;
    Timestamp::from_microseconds(seconds * 1_000_000 + fraction)
}

/// Whether the month has that day, which is after the 28th that every month has. Kept apart, as it is seldom asked.
#[cold]
fn is_in_month(year: i64, month: i64, day: i64) -> bool {
    day <= first_of(year, month + 1) - first_of(year, month)
}

/// Eight bytes, each of which is a digit or a certain other one.
struct Shape {
    /// With `0` for a digit.
    bytes: u64,
    /// What makes a byte greater than 127 by which one differs that has no place there.
    room: u64,
}

impl Shape {
    const fn of(bytes: &[u8; 8]) -> Self {
        let mut room = [0x7f; 8];
        let mut at = 0;
        while at < 8 {
            room[at] -= if bytes[at] == b'0' { 9 } else { 0 };
            at += 1;
        }
        Self { bytes: u64::from_le_bytes(*bytes), room: u64::from_le_bytes(room) }
    }

    /// Of bytes that have it, without the first of so many bits: at each place the number that two digits make from there on.
    #[inline]
    fn pairs(&self, bytes: [u8; 8], without: usize) -> Option<[u8; 8]> {
        let digits = (u64::from_le_bytes(bytes) ^ self.bytes) >> without;
        let is_wrong = (digits | digits.wrapping_add(self.room)) & 0x8080_8080_8080_8080 != 0;
        (!is_wrong).then(|| (digits * 10 + (digits >> 8)).to_le_bytes())
    }
}

fn number(digits: &[u8]) -> Option<i64> {
    let number = digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit.wrapping_sub(b'0')));
    digits.iter().all(u8::is_ascii_digit).then_some(number)
}

/// The days from 1970 to a month's first, in the calendar of today. January and February count to the year before, so
/// that a leap day is the last of a year, and months of 31 and 30 days then take turns five at a time.
#[inline]
fn first_of(year: i64, month: i64) -> i64 {
    const MARCH_OF_0_TO_1970: i64 = 719_468;
    // Counted from 400 years before, as long as the calendar takes to repeat itself: no number is below 0.
    const DAYS_OF_400_YEARS: i64 = 146_097;
    let (year, month) = ((year + 400 - i64::from(month <= 2)) as u32, ((month + 9) % 12) as u32);
    i64::from(365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5)
        - MARCH_OF_0_TO_1970
        - DAYS_OF_400_YEARS
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
    fn the_usual_texts_are_read_as_by_rfc_3339() {
        let days =
            (Timestamp::MIN.as_microseconds() / 1_000_000 / 86_400..).step_by(41).take_while(|day| *day < 2_932_897);
        for day in days {
            let instant =
                Timestamp::from_microseconds(day * 86_400_000_000 + day.rem_euclid(86_400) * 1_000_001).unwrap();
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
}

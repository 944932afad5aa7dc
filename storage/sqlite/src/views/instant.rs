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

/// Whether that reads it.
#[inline]
pub(super) fn is_usual(value: ValueRef<'_>) -> bool {
    match value {
        ValueRef::Integer(microseconds) => Timestamp::from_microseconds(microseconds).is_some(),
        ValueRef::Text(text) => Usual::of(text).is_some(),
        _ => false,
    }
}

fn parse_usual(text: &[u8]) -> Option<Timestamp> {
    Usual::of(text)?.instant()
}

/// UTC, with six digits of a fraction at most. A page has two times for each course, so eight bytes are looked at at once.
struct Usual {
    /// The numbers that two digits make each: the last ones of the year, the month and the day.
    date: [u8; 8],
    time: [u8; 8],
    /// The digits of a second's fraction, and the first two of the year.
    rest: u64,
}

impl Usual {
    #[inline]
    fn of(text: &[u8]) -> Option<Self> {
        const DATE: Shape = Shape::of(b"00-00-00");
        const TIME: Shape = Shape::of(b"00:00:00");
        const DIGITS: Shape = Shape::of(b"00000000");

        let (head, end) = text.split_first_chunk::<19>()?;
        let (is_utc, fraction) = match end {
            [fraction @ .., b'Z'] => (true, fraction),
            fraction => (false, fraction),
        };
        if head[10] != b' ' && !(is_utc && head[10] == b'T') {
            return None;
        }
        let fraction = match fraction {
            [] => 0,
            // Its digits are the last of eight bytes. What stands before them is shifted out, and what comes in is 0.
            [b'.', digits @ ..] if (1..=6).contains(&digits.len()) => {
                DIGITS.digits(text[..20 + digits.len()].last_chunk()?) >> (64 - 8 * digits.len())
            }
            _ => return None,
        };
        let [date, time] = [DATE.digits(head[2..].first_chunk()?), TIME.digits(head.last_chunk()?)];
        let rest = DIGITS.digits(head.first_chunk()?) << 48 | fraction;
        let is_wrong = DATE.is_wrong(date) | TIME.is_wrong(time) | DIGITS.is_wrong(rest);
        let [date, time] = [pairs(date), pairs(time)];
        let is_wrong = is_wrong
            | date.wrapping_sub(places([0, 1, 1]))
            | date.wrapping_add(places([127 - 99, 127 - 12, 127 - 31]))
            | time.wrapping_add(places([127 - 23, 127 - 59, 127 - 59]));
        let usual = Self { date: date.to_le_bytes(), time: time.to_le_bytes(), rest };
        (is_wrong & HIGH_BITS == 0 && (usual.date[6] <= 28 || usual.is_in_month())).then_some(usual)
    }

    /// Whether the month has that day, which is after the 28th that every month has. Kept apart, as it is seldom asked.
    #[cold]
    fn is_in_month(&self) -> bool {
        let [year, month] = self.month();
        i64::from(self.date[6]) <= first_of(year, month + 1) - first_of(year, month)
    }

    #[inline]
    fn month(&self) -> [i64; 2] {
        let century = pairs(self.rest).to_le_bytes()[6];
        [i64::from(century) * 100 + i64::from(self.date[0]), i64::from(self.date[3])]
    }

    #[inline]
    fn instant(&self) -> Option<Timestamp> {
        let [year, month] = self.month();
        let [day, hour, minute, second] = [self.date[6], self.time[0], self.time[3], self.time[6]].map(i64::from);
        let rest = pairs(self.rest).to_le_bytes().map(i64::from);
        let fraction = rest[0] * 10_000 + rest[2] * 100 + rest[4];
        let seconds = (((first_of(year, month) + day - 1) * 24 + hour) * 60 + minute) * 60 + second;
        Timestamp::from_microseconds(seconds * 1_000_000 + fraction)
    }
}

const HIGH_BITS: u64 = u64::from_ne_bytes([0x80; 8]);

/// Of digits, at each place the number that two make from there on.
#[inline]
const fn pairs(digits: u64) -> u64 {
    digits.wrapping_mul(10).wrapping_add(digits >> 8)
}

/// Numbers at the places of a date or time.
const fn places([first, second, third]: [u8; 3]) -> u64 {
    u64::from_le_bytes([first, 0, 0, second, 0, 0, third, 0])
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

    /// By how much each byte differs.
    #[inline]
    const fn digits(&self, bytes: &[u8; 8]) -> u64 {
        u64::from_le_bytes(*bytes) ^ self.bytes
    }

    /// With a high bit where one differs that has no place there.
    #[inline]
    const fn is_wrong(&self, digits: u64) -> u64 {
        digits | digits.wrapping_add(self.room)
    }
}

/// The days from 1970 to a month's first, in the calendar of today. January and February count to the year before, so
/// that a leap day is the last of a year, and months of 31 and 30 days then take turns five at a time.
#[inline]
fn first_of(year: i64, month: i64) -> i64 {
    const MARCH_OF_0_TO_1970: i64 = 719_468;
    // Counted from 400 years before, as long as the calendar takes to repeat itself: no number is below 0.
    const DAYS_OF_400_YEARS: i64 = 146_097;
    let (year, month) = ((year + 400 - i64::from(month <= 2)) as u32, (month + if month <= 2 { 9 } else { -3 }) as u32);
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
mod tests;

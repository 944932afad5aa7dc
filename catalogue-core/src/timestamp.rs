//! [`Timestamp`]: an instant to the microsecond.

use std::borrow::Cow;
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// An instant in UTC with microsecond precision, in the years 0000 to 9999.
///
/// Displayed and serialized as the API shows every time: ISO 8601 with milliseconds and `Z`, finer digits truncated.
///
/// ```
/// use catalogue_core::Timestamp;
///
/// let time = Timestamp::parse("2026-01-02T05:04:05.6789+02:00")?;
/// assert_eq!(time.to_string(), "2026-01-02T03:04:05.678Z");
/// # Ok::<(), catalogue_core::InvalidTimestamp>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// Error for a text that is not an RFC 3339 time, or is outside the years 0000 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an RFC 3339 time in the years 0000 to 9999, such as 2026-01-02T03:04:05Z")]
pub struct InvalidTimestamp;

impl Timestamp {
    /// The first instant of the year 0000.
    pub const MIN: Self = Self(-62_167_219_200_000_000);
    /// The last microsecond of the year 9999.
    pub const MAX: Self = Self(253_402_300_799_999_999);

    /// Returns the instant `microseconds` after 1970-01-01T00:00:00Z, or `None` if it is outside [`MIN`](Self::MIN) to
    /// [`MAX`](Self::MAX).
    #[must_use]
    pub const fn from_microseconds(microseconds: i64) -> Option<Self> {
        if microseconds < Self::MIN.0 || microseconds > Self::MAX.0 {
            return None;
        }
        Some(Self(microseconds))
    }

    /// Returns the microseconds since 1970-01-01T00:00:00Z, negative before it.
    #[must_use]
    pub const fn as_microseconds(self) -> i64 {
        self.0
    }

    /// Returns the current time of the system's clock; a clock before 1970 counts as 1970.
    #[must_use]
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(0).checked_add(since).unwrap_or(Self::MAX)
    }

    /// Returns this instant plus `duration`, or `None` if that is later than [`MAX`](Self::MAX).
    #[must_use]
    pub fn checked_add(self, duration: Duration) -> Option<Self> {
        let microseconds = i64::try_from(duration.as_micros()).ok()?;
        Self::from_microseconds(self.0.checked_add(microseconds)?)
    }

    /// Parses an RFC 3339 time with any offset; digits finer than a microsecond are truncated.
    ///
    /// # Errors
    /// Returns [`InvalidTimestamp`] if `text` is anything else, or the instant is outside the years 0000 to 9999.
    pub fn parse(text: &str) -> Result<Self, InvalidTimestamp> {
        // RFC 3339 lets applications put a space between date and time; this parser refuses it.
        if !matches!(text.as_bytes().get(10), Some(b'T' | b't')) {
            return Err(InvalidTimestamp);
        }
        let instant = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| InvalidTimestamp)?;
        let microseconds = instant.unix_timestamp_nanos().div_euclid(1_000);
        i64::try_from(microseconds).ok().and_then(Self::from_microseconds).ok_or(InvalidTimestamp)
    }

    /// Returns the exact time as text: without the fraction if it is zero, else with 3 digits, or with 6 if needed.
    #[must_use]
    pub fn to_exact_string(self) -> String {
        match self.0.rem_euclid(1_000_000) {
            0 => self.render(0),
            fraction if fraction % 1_000 == 0 => self.render(3),
            _ => self.render(6),
        }
        .as_str()
        .to_owned()
    }

    /// Writes the instant as JSON, with the same bytes as its serialization.
    #[inline]
    pub(crate) fn write_json(self, json: &mut Vec<u8>) {
        let text = self.render(3);
        json.push(b'"');
        json.extend_from_slice(&text.bytes[..text.length]);
        json.push(b'"');
    }

    /// Renders the instant with `digits` (0, 3 or 6) of the fraction, on the stack: a page of fifty courses has fifty times.
    fn render(self, digits: usize) -> Text {
        let (seconds, microseconds) = (self.0.div_euclid(1_000_000), self.0.rem_euclid(1_000_000) as u32);
        let second = seconds.rem_euclid(86_400) as u32;
        let date = OffsetDateTime::from_unix_timestamp(seconds).expect("the year has four digits").date();
        let (year, month, day) = date.to_calendar_date();
        let (year, month, day) = (year as u32, u8::from(month).into(), day.into());
        let mut text = Text { bytes: *b"0000-00-00T00:00:00.000000Z", length: 20 };
        text.put(0, year / 100);
        text.put(2, year % 100);
        text.put(5, month);
        text.put(8, day);
        text.put(11, second / 3_600);
        text.put(14, second / 60 % 60);
        text.put(17, second % 60);
        if digits == 0 {
            text.bytes[19] = b'Z';
        } else {
            text.put(20, microseconds / 10_000);
            text.put(22, microseconds / 100 % 100);
            text.put(24, microseconds % 100);
            text.bytes[20 + digits] = b'Z';
            text.length = 21 + digits;
        }
        text
    }
}

struct Text {
    bytes: [u8; 27],
    length: usize,
}

impl Text {
    fn put(&mut self, at: usize, number: u32) {
        self.bytes[at..at + 2].copy_from_slice(&[b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]);
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).expect("only ASCII was written")
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render(3).as_str())
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.render(3).as_str())
    }
}

impl JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time", "examples": ["2026-01-02T03:04:05.000Z"] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_truncates_to_milliseconds() {
        let time = Timestamp::parse("2026-01-02T03:04:05.999999Z").unwrap();
        assert_eq!(time.to_string(), "2026-01-02T03:04:05.999Z");
        assert_eq!(Timestamp::from_microseconds(-1).unwrap().to_string(), "1969-12-31T23:59:59.999Z");
    }

    #[test]
    fn exact_text_has_as_many_digits_as_needed() {
        for (text, exact) in [
            ("2023-01-02T03:04:05.000000Z", "2023-01-02T03:04:05Z"),
            ("2023-01-02T03:04:05.1Z", "2023-01-02T03:04:05.100Z"),
            ("2023-01-02T03:04:05.123456789Z", "2023-01-02T03:04:05.123456Z"),
            ("2023-01-02T03:04:05+05:30", "2023-01-01T21:34:05Z"),
        ] {
            assert_eq!(Timestamp::parse(text).unwrap().to_exact_string(), exact);
        }
    }

    #[test]
    fn bounds_are_years_0000_to_9999() {
        assert_eq!(Timestamp::parse("0000-01-01T00:00:00Z"), Ok(Timestamp::MIN));
        assert_eq!(Timestamp::parse("9999-12-31T23:59:59.999999Z"), Ok(Timestamp::MAX));
        assert_eq!(Timestamp::MAX.to_string(), "9999-12-31T23:59:59.999Z");
        assert_eq!(Timestamp::MIN.to_string(), "0000-01-01T00:00:00.000Z");
        assert_eq!(Timestamp::parse("0000-01-01T00:00:00+01:00"), Err(InvalidTimestamp));
        assert_eq!(Timestamp::parse("9999-12-31T23:59:59-01:00"), Err(InvalidTimestamp));
        assert_eq!(Timestamp::from_microseconds(Timestamp::MAX.0 + 1), None);
        assert_eq!(Timestamp::MAX.checked_add(Duration::from_micros(1)), None);
    }

    #[test]
    fn invalid_timestamps_are_refused() {
        for text in
            ["", "2026", "2026-01-02", "2026-01-02 03:04:05Z", "2026-13-02T03:04:05Z", "2026-01-02T03:04:05", "é"]
        {
            assert_eq!(Timestamp::parse(text), Err(InvalidTimestamp), "{text}");
        }
    }
}

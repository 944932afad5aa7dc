//! What may stand in the fields of a form, written once more.

use catalogue_core::Timestamp;

use super::world::clock;

const DAY: i64 = 24 * 60 * 60 * 1_000_000;

/// A form's fields.
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(super) fn read(body: &[u8]) -> Self {
        Self(form_urlencoded::parse(body).into_owned().collect())
    }

    pub(super) fn all(&self, name: &str) -> Vec<&str> {
        self.0.iter().filter(|(field, _)| field == name).map(|(_, value)| value.as_str()).collect()
    }

    /// `None` where it comes twice.
    pub(super) fn one(&self, name: &str) -> Option<&str> {
        match *self.all(name) {
            [] => Some(""),
            [value] => Some(value),
            _ => None,
        }
    }
}

/// A key's name. `None` is a text that it cannot be.
pub(super) fn name(text: &str) -> Option<String> {
    let text = text.trim();
    let turns = "\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}\u{fffd}";
    let is_shown = !text.contains(|c: char| c.is_control() || turns.contains(c));
    (is_shown && (1..=100).contains(&text.chars().count()) && is_visible(text)).then(|| text.to_owned())
}

/// Whether something is seen of a text. Of other scripts nothing is said here but that letters and digits are.
fn is_visible(text: &str) -> bool {
    text.contains(|c: char| {
        c.is_ascii_graphic() || c.is_alphanumeric() && !"\u{115f}\u{1160}\u{3164}\u{ffa0}".contains(c)
    })
}

/// Whether this model says nothing of the name.
pub(super) fn is_doubtful(text: &str) -> bool {
    !text.trim().is_empty() && !is_visible(text)
}

/// When a key ends that is made now: `Some(None)` is never.
pub(super) fn expiry(choice: &str, date: &str) -> Option<Option<Timestamp>> {
    let now = clock().as_microseconds();
    let end = match choice {
        "never" => return Some(None),
        "date" => (days(date.trim())? + 1) * DAY,
        "7d" => now + 7 * DAY,
        "30d" => now + 30 * DAY,
        "90d" => now + 90 * DAY,
        "365d" => now + 365 * DAY,
        _ => return None,
    };
    Timestamp::from_microseconds(end).filter(|_| end > now).map(Some)
}

/// The days from 1970 to a date like 2027-02-20, counted one year and one month after the other.
fn days(date: &str) -> Option<i64> {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<i64>().ok())?;
    let (year, month, day) = match *date.split('-').collect::<Vec<_>>() {
        [year, month, day] if (year.len(), month.len(), day.len()) == (4, 2, 2) => {
            (digits(year)?, digits(month)?, digits(day)?)
        }
        _ => return None,
    };
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let mut months = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    months[1] += i64::from(is_leap(year));
    let length = months.get(usize::try_from(month - 1).ok()?)?;
    let is_date = (1..=*length).contains(&day);
    let years: i64 = match year {
        1970.. => (1970..year).map(|year| 365 + i64::from(is_leap(year))).sum(),
        _ => -(year..1970).map(|year| 365 + i64::from(is_leap(year))).sum::<i64>(),
    };
    is_date.then(|| years + months[..usize::try_from(month - 1).unwrap_or(0)].iter().sum::<i64>() + day - 1)
}

/// Whether a form with that nonce is taken: a UUID of version 7, of the last day, five minutes ahead at most.
pub(super) fn is_nonce(text: &str) -> bool {
    let is_hexadecimal = text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !is_hexadecimal || text.as_bytes()[12] != b'7' || !b"89ab".contains(&text.as_bytes()[16]) {
        return false;
    }
    let made = i64::from_str_radix(&text[..12], 16).expect("those are digits");
    let age = clock().as_microseconds() / 1000 - made;
    (-5 * 60 * 1000..=DAY / 1000).contains(&age)
}

/// One of now.
pub(super) fn nonce() -> String {
    format!("{:012x}70008000000000000000", clock().as_microseconds() / 1000)
}

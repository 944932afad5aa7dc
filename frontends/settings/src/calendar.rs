//! A reminder as a calendar file (RFC 5545).

use catalogue_core::Timestamp;

use crate::input::DAY;
use crate::times::last_day;

/// Number of days between the event and the key's end.
const DAYS_BEFORE: u32 = 14;

/// Maximum length of a line in bytes, without its end (RFC 5545 section 3.1).
const MAX_LINE_BYTES: usize = 75;

/// Returns an event of a whole day: 14 days before `end`, or the day of `end` if less time is left. `page` is the URL of the
/// key's page, if the settings' origin is known.
pub(crate) fn reminder(id: &str, name: &str, end: Timestamp, page: Option<&str>, now: Timestamp) -> String {
    let before = end.as_microseconds() - i64::from(DAYS_BEFORE) * DAY.as_micros() as i64;
    let day = Timestamp::from_microseconds(before).filter(|day| *day > now).unwrap_or(end);
    let (day, stamp) = (basic(&last_day(day)), basic(&format!("{}Z", &now.to_string()[..19])));
    let title = escape(&format!("API key \"{name}\" ends on {}", last_day(end)));
    let description =
        escape(&format!("It is refused from {end} on. Before then, rotate it and switch to the new key."));
    let mut lines = vec![
        "BEGIN:VCALENDAR".to_owned(),
        "VERSION:2.0".to_owned(),
        "PRODID:-//catalogue//developer settings//EN".to_owned(),
        "BEGIN:VEVENT".to_owned(),
        format!("UID:{id}@catalogue"),
        format!("DTSTAMP:{stamp}"),
        format!("DTSTART;VALUE=DATE:{day}"),
        format!("SUMMARY:{title}"),
        format!("DESCRIPTION:{description}"),
        "TRANSP:TRANSPARENT".to_owned(),
    ];
    lines.extend(page.map(|page| format!("URL:{page}")));
    lines.extend(["END:VEVENT", "END:VCALENDAR"].map(str::to_owned));
    lines.iter().map(|line| fold(line)).collect()
}

/// Returns `time` without separators, such as `20270220` or `20261122T044000Z`.
fn basic(time: &str) -> String {
    time.replace(['-', ':'], "")
}

/// Escapes a text value (RFC 5545 section 3.3.11).
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '\\' | ';' | ',' => escaped.extend(['\\', c]),
            '\n' => escaped.push_str("\\n"),
            c if c.is_control() => {}
            c => escaped.push(c),
        }
    }
    escaped
}

/// Folds a line into pieces of at most [`MAX_LINE_BYTES`] that end between characters.
fn fold(line: &str) -> String {
    let (mut folded, mut length) = (String::new(), 0);
    for c in line.chars() {
        if length + c.len_utf8() > MAX_LINE_BYTES {
            folded.push_str("\r\n ");
            length = 1;
        }
        folded.push(c);
        length += c.len_utf8();
    }
    folded + "\r\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn texts_are_escaped_and_lines_folded() {
        let name = format!("a,b;c\\d\nEND:VEVENT\r{}", "é".repeat(90));
        let file = reminder("key_1", &name, at("2027-02-20T10:00:00Z"), None, at("2026-11-22T04:40:00Z"));
        assert!(file.lines().all(|line| line.len() <= MAX_LINE_BYTES), "{file}");
        assert_eq!(file.matches("\r\nEND:VEVENT\r\n").count(), 1);
        assert_eq!(fold(&"a".repeat(MAX_LINE_BYTES)).matches("\r\n").count(), 1);
        assert_eq!(fold(&"a".repeat(MAX_LINE_BYTES + 1)), format!("{}\r\n a\r\n", "a".repeat(MAX_LINE_BYTES)));
        let unfolded = file.replace("\r\n ", "");
        assert!(unfolded.contains(&format!("a\\,b\\;c\\\\d\\nEND:VEVENT{}", "é".repeat(90))), "{unfolded}");
    }
}

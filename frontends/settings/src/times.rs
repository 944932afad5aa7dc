//! Times in words.

use catalogue_core::Timestamp;
use maud::{Markup, html};

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Returns a time in words, with the exact time as its title.
pub(crate) fn time(at: Timestamp, now: Timestamp) -> Markup {
    let exact = at.to_string();
    html! { time datetime=(exact) title=(exact) { (words(at, now)) } }
}

/// Returns a time to the minute, as a deadline needs it.
pub(crate) fn exact(at: Timestamp) -> Markup {
    let text = at.to_string();
    html! { time datetime=(at) { (&text[..10]) " " (&text[11..16]) " UTC" } }
}

/// Returns a time to the minute, and how far away it is if that is less than 100 days.
pub(crate) fn dated(at: Timestamp, now: Timestamp) -> Markup {
    let words = words(at, now);
    html! { (exact(at)) @if !words.contains('-') { " · " span.muted { (words) } } }
}

/// Returns the date in UTC, such as `2026-11-22`.
fn date(at: Timestamp) -> String {
    let mut text = at.to_string();
    text.truncate("2026-11-22".len());
    text
}

/// Returns the date in UTC of the last day on which a key that ends at `end` is valid.
pub(crate) fn last_day(end: Timestamp) -> String {
    date(Timestamp::from_microseconds(end.as_microseconds() - 1).unwrap_or(end))
}

/// Returns how far away `at` is, or its date from 100 days on. A future time is the expiry of a key.
fn words(at: Timestamp, now: Timestamp) -> String {
    let is_ahead = at > now;
    let seconds = (at.as_microseconds() - now.as_microseconds()) / 1_000_000;
    // Rounded if ahead, so that a lifetime of 90 days still reads as 90 days when its page is shown.
    let whole = |away: i64, unit: i64| if is_ahead { (away + unit / 2) / unit } else { away / unit };
    let away = if seconds < MINUTE { seconds.abs() } else { whole(seconds, MINUTE) * MINUTE };
    let (count, unit) = match away {
        away if away < MINUTE => return if is_ahead { "in less than a minute" } else { "just now" }.to_owned(),
        away if away < HOUR => (whole(away, MINUTE), "minute"),
        away if away < 2 * DAY => (whole(away, HOUR), "hour"),
        away if away < 100 * DAY => (whole(away, DAY), "day"),
        _ if is_ahead => return format!("on {}", last_day(at)),
        _ => return date(at),
    };
    let plural = if count == 1 { "" } else { "s" };
    if is_ahead { format!("in {count} {unit}{plural}") } else { format!("{count} {unit}{plural} ago") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_times_are_relative() {
        let at = |text: &str| Timestamp::parse(text).unwrap();
        let now = at("2026-11-22T04:43:00Z");
        for (time, expected) in [
            ("2026-11-22T04:42:01Z", "just now"),
            ("2026-11-22T04:40:00Z", "3 minutes ago"),
            ("2026-11-22T04:43:00Z", "just now"),
            ("2026-11-22T03:43:00Z", "1 hour ago"),
            ("2026-11-20T04:43:00Z", "2 days ago"),
            ("2026-08-01T00:00:00Z", "2026-08-01"),
            ("2026-11-22T04:43:30Z", "in less than a minute"),
            ("2026-11-23T04:43:00Z", "in 24 hours"),
            ("2026-11-22T05:42:59Z", "in 1 hour"),
            ("2026-11-23T04:42:59Z", "in 24 hours"),
            ("2026-11-23T04:12:00Z", "in 23 hours"),
            ("2027-02-20T04:43:00Z", "in 90 days"),
            ("2026-11-24T03:43:00Z", "in 47 hours"),
            ("2027-03-02T04:43:00Z", "on 2027-03-02"),
            ("2027-11-22T04:43:00Z", "on 2027-11-22"),
        ] {
            assert_eq!(words(at(time), now), expected, "{time}");
        }
        let html = time(at("2026-11-22T04:40:00Z"), now).into_string();
        let exact = "2026-11-22T04:40:00.000Z";
        assert_eq!(html, format!(r#"<time datetime="{exact}" title="{exact}">3 minutes ago</time>"#));
    }
}

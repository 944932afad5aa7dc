//! Parsers for durations and sizes in options: whole numbers with units.

use std::time::Duration;

const DAY: u64 = 24 * 60 * 60;
/// Units of a duration in seconds, in the order in which a duration must name them.
const SECONDS: [(&str, u64); 5] = [("w", 7 * DAY), ("d", DAY), ("h", 60 * 60), ("m", 60), ("s", 1)];
const BYTES: [(&str, u64); 4] = [("", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

/// Parses a duration such as `90d` or `1h30m`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let invalid = || format!("invalid duration {text:?}; use whole numbers with w, d, h, m or s, like 90d or 1h30m");
    let seconds = seconds(text).ok_or_else(invalid)?;
    seconds.map(Duration::from_secs).ok_or_else(|| format!("the duration {text:?} is too large"))
}

/// Sums the seconds of all parts, whose units must descend. `None` if malformed, `Some(None)` if the sum is too large.
fn seconds(text: &str) -> Option<Option<u64>> {
    let (mut units, mut total) = (SECONDS.iter(), Some(0_u64));
    for part in text.split_inclusive(|character: char| !character.is_ascii_digit()) {
        let unit = units.find(|(name, _)| part.ends_with(name))?;
        let seconds = parse_number(part, &[*unit])?;
        total = total.zip(seconds).and_then(|(total, seconds)| total.checked_add(seconds));
    }
    (!text.is_empty()).then_some(total)
}

/// Parses a lifetime, which must not be zero.
pub(crate) fn lifetime(text: &str) -> Result<Duration, String> {
    let lifetime = duration(text)?;
    if lifetime.is_zero() { Err(format!("{text:?} is too short; use at least 1s, like 90d")) } else { Ok(lifetime) }
}

/// Parses a duration from `min` to `max`.
pub(crate) fn between(text: &str, [min, max]: [&str; 2]) -> Result<Duration, String> {
    let time = duration(text)?;
    let is_allowed = (duration(min)?..=duration(max)?).contains(&time);
    is_allowed.then_some(time).ok_or_else(|| format!("{text:?} is out of range; use a duration from {min} to {max}"))
}

/// Parses a size such as `64MiB` into bytes.
pub(crate) fn size(text: &str) -> Result<usize, String> {
    const HINT: &str = "use a whole number of bytes, or one with KiB, MiB or GiB, like 64MiB";
    let bytes = parse_number(text, &BYTES).ok_or_else(|| format!("invalid size {text:?}; {HINT}"))?;
    let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok());
    bytes.ok_or_else(|| format!("the size {text:?} is too large; {HINT}"))
}

/// Converts a number with a unit to the smallest unit. `None` if `text` is malformed, `Some(None)` if it is too large.
fn parse_number(text: &str, units: &[(&str, u64)]) -> Option<Option<u64>> {
    let (number, unit) = units.iter().rev().find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))?;
    let is_whole = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    is_whole.then(|| number.parse().ok().and_then(|number: u64| number.checked_mul(*unit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_parsed() {
        for (text, seconds) in [
            ("0s", 0),
            ("10s", 10),
            ("2m", 120),
            ("3h", 10_800),
            ("90d", 7_776_000),
            ("007s", 7),
            ("2w", 1_209_600),
            ("1h30m", 5_400),
            ("1w2d3h4m5s", 788_645),
            ("1d90m", 91_800),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
    }

    #[test]
    fn zero_lifetime_is_refused() {
        assert_eq!(lifetime("1s"), Ok(Duration::from_secs(1)));
        for text in ["0s", "00d", "0"] {
            let message = lifetime(text).unwrap_err();
            assert!(message.contains(&format!("{text:?}")) && message.contains("like 90d"), "{message}");
        }
    }

    #[test]
    fn malformed_or_overflowing_durations_are_refused() {
        for (texts, piece) in [
            (&["", "s", "10", "-1s", "+1s", "1.5h", "1 s", " 1s", "1s ", "1D", "1ms", "١s", "é", "1é"][..], "like 90d"),
            (&["1y", "1h30", "30m1h", "1h1h", "1h 30m", "1hm", "h30m"], "like 90d or 1h30m"),
            (&["99999999999999999999s", "18446744073709551615d"], "is too large"),
            (&["5124095576030431h18446744073709551615s"], "is too large"),
        ] {
            for text in texts {
                let message = duration(text).unwrap_err();
                assert!(message.contains(piece), "{text}: {message}");
            }
        }
    }

    #[test]
    fn sizes_are_parsed() {
        for (text, bytes) in [("0", 0), ("1", 1), ("007", 7), ("0GiB", 0), ("3KiB", 3_072), ("64MiB", 67_108_864)] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn malformed_or_overflowing_sizes_are_refused() {
        let malformed =
            ["", "MiB", "-1", "+1", "1.5GiB", "64 MiB", " 1", "1 ", "1MB", "1M", "1mib", "1B", "١", "é", "0x10"];
        let overflowing = ["99999999999999999999", "18446744073709551615GiB"];
        for (texts, piece) in [(&malformed[..], "like 64MiB"), (&overflowing, "is too large")] {
            for text in texts {
                let message = size(text).unwrap_err();
                assert!(message.contains(piece), "{text}: {message}");
            }
        }
    }
}

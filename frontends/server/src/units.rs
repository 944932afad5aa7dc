//! Parsers for durations and sizes in options: whole numbers with units.

use std::time::Duration;

const DAY: u64 = 24 * 60 * 60;
/// Units of a duration, from the longest on, as in a duration.
const SECONDS: [(&str, u64); 5] = [("w", 7 * DAY), ("d", DAY), ("h", 60 * 60), ("m", 60), ("s", 1)];
const BYTES: [(&str, u64); 4] = [("", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

/// Parses a duration such as `90d` or `1h30m`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let seconds = seconds(text).ok_or_else(|| {
        format!("{text:?} is not a duration; write whole numbers with w, d, h, m or s, like 90d or 1h30m")
    })?;
    seconds.map(Duration::from_secs).ok_or_else(|| format!("{text:?} is longer than can be counted"))
}

/// Returns the seconds of all parts, each of a smaller unit than the last. `None` and `Some(None)` are as in [`parse_number`].
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
    if lifetime.is_zero() {
        return Err(format!("{text:?} would be over at once; write a duration from 1s on, like 90d"));
    }
    Ok(lifetime)
}

/// Parses a duration from `min` to `max`.
pub(crate) fn between(text: &str, [min, max]: [&str; 2]) -> Result<Duration, String> {
    let time = duration(text)?;
    if time < duration(min)? || time > duration(max)? {
        return Err(format!("{text:?} is too short or too long; write a duration from {min} to {max}"));
    }
    Ok(time)
}

/// Parses a size such as `64MiB`, in bytes.
pub(crate) fn size(text: &str) -> Result<usize, String> {
    const HINT: &str = "write a whole number of bytes, or one with KiB, MiB or GiB, like 64MiB";
    let bytes = parse_number(text, &BYTES).ok_or_else(|| format!("{text:?} is not a size; {HINT}"))?;
    let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok());
    bytes.ok_or_else(|| format!("{text:?} is larger than can be counted; write a size like 64MiB"))
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
    fn a_duration_is_whole_numbers_and_units() {
        for (text, seconds) in [("0s", 0), ("10s", 10), ("2m", 120), ("3h", 10_800), ("90d", 7_776_000), ("007s", 7)] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for (text, seconds) in [("2w", 1_209_600), ("1h30m", 5_400), ("1w2d3h4m5s", 788_645), ("1d90m", 91_800)] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
    }

    #[test]
    fn a_life_is_some_time() {
        assert_eq!(lifetime("1s"), Ok(Duration::from_secs(1)));
        for text in ["0s", "00d", "0"] {
            let message = lifetime(text).unwrap_err();
            assert!(message.contains(&format!("{text:?}")) && message.contains("like 90d"), "{message}");
        }
    }

    #[test]
    fn no_other_duration_is_taken() {
        for text in ["", "s", "10", "-1s", "+1s", "1.5h", "1 s", " 1s", "1s ", "1D", "1ms", "١s", "é", "1é"] {
            let message = duration(text).unwrap_err();
            assert!(message.contains("like 90d"), "{text}: {message}");
        }
        for text in ["1y", "1h30", "30m1h", "1h1h", "1h 30m", "1hm", "h30m"] {
            assert!(duration(text).unwrap_err().contains("like 90d or 1h30m"), "{text}");
        }
    }

    #[test]
    fn no_duration_overflows() {
        for text in ["99999999999999999999s", "18446744073709551615d", "5124095576030431h18446744073709551615s"] {
            assert!(duration(text).unwrap_err().contains("longer than can be counted"), "{text}");
        }
    }

    #[test]
    fn a_size_is_a_whole_number_and_perhaps_a_unit() {
        for (text, bytes) in [("0", 0), ("1", 1), ("007", 7), ("0GiB", 0), ("3KiB", 3_072), ("64MiB", 67_108_864)] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn no_other_size_is_taken() {
        for text in ["", "MiB", "-1", "+1", "1.5GiB", "64 MiB", " 1", "1 ", "1MB", "1M", "1mib", "1B", "١", "é", "0x10"]
        {
            let message = size(text).unwrap_err();
            assert!(message.contains("like 64MiB"), "{text}: {message}");
        }
    }

    #[test]
    fn no_size_overflows() {
        for text in ["99999999999999999999", "18446744073709551615GiB"] {
            assert!(size(text).unwrap_err().contains("larger than can be counted"), "{text}");
        }
    }
}

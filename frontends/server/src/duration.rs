//! Durations as options take them: a whole number and `s`, `m`, `h` or `d`.

use std::time::Duration;

/// Reads a duration such as `90d`.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let (number, seconds) = match text.as_bytes().last() {
        Some(b's') => (&text[..text.len() - 1], 1),
        Some(b'm') => (&text[..text.len() - 1], 60),
        Some(b'h') => (&text[..text.len() - 1], 60 * 60),
        Some(b'd') => (&text[..text.len() - 1], 24 * 60 * 60),
        _ => return Err(not_a_duration(text)),
    };
    if number.is_empty() || !number.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(not_a_duration(text));
    }
    // What is left to go wrong is a number that does not fit.
    let number: Option<u64> = number.parse().ok();
    number
        .and_then(|number| number.checked_mul(seconds))
        .map(Duration::from_secs)
        .ok_or_else(|| format!("{text:?} is longer than can be counted"))
}

/// Reads how long something is to live: some time.
pub(crate) fn parse_lifetime(text: &str) -> Result<Duration, String> {
    let lifetime = parse(text)?;
    if lifetime.is_zero() {
        return Err(format!("{text:?} would be over at once; write a duration from 1s on, like 90d"));
    }
    Ok(lifetime)
}

fn not_a_duration(text: &str) -> String {
    format!("{text:?} is not a duration; write a whole number and s, m, h or d, like 90d")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_and_a_unit() {
        for (text, seconds) in [("0s", 0), ("10s", 10), ("2m", 120), ("3h", 10_800), ("90d", 7_776_000), ("007s", 7)] {
            assert_eq!(parse(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
    }

    #[test]
    fn a_life_is_some_time() {
        assert_eq!(parse_lifetime("1s"), Ok(Duration::from_secs(1)));
        for text in ["0s", "00d", "0"] {
            let message = parse_lifetime(text).unwrap_err();
            assert!(message.contains(&format!("{text:?}")) && message.contains("like 90d"), "{message}");
        }
    }

    #[test]
    fn refuses_all_else() {
        for text in ["", "s", "10", "-1s", "+1s", "1.5h", "1 s", " 1s", "1s ", "1w", "1D", "1ms", "١s", "é", "1é"] {
            let message = parse(text).unwrap_err();
            assert!(message.contains("like 90d"), "{text}: {message}");
        }
    }

    #[test]
    fn refuses_what_overflows() {
        for text in ["99999999999999999999s", "18446744073709551615d"] {
            assert!(parse(text).unwrap_err().contains("longer than can be counted"), "{text}");
        }
    }
}

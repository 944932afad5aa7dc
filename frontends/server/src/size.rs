//! Sizes as options take them: a whole number of bytes, or a whole number and `KiB`, `MiB` or `GiB`.

const UNITS: [(&str, usize); 3] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

/// Reads a size such as `64MiB`, in bytes.
pub(crate) fn parse(text: &str) -> Result<usize, String> {
    let with_unit = UNITS.iter().find_map(|&(unit, bytes)| Some((text.strip_suffix(unit)?, bytes)));
    let (number, bytes) = with_unit.unwrap_or((text, 1));
    if number.is_empty() || !number.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(format!(
            "{text:?} is not a size; write a whole number of bytes, or one with KiB, MiB or GiB, like 64MiB"
        ));
    }
    // What is left to go wrong is a number that does not fit.
    let number: Option<usize> = number.parse().ok();
    number
        .and_then(|number| number.checked_mul(bytes))
        .ok_or_else(|| format!("{text:?} is larger than can be counted; write a size like 64MiB"))
}

/// The size as it can be read again, in the largest unit that leaves a whole number.
pub(crate) fn shown(bytes: usize) -> String {
    let unit = UNITS.iter().rev().find(|(_, unit)| bytes >= *unit && bytes.is_multiple_of(*unit));
    unit.map_or_else(|| bytes.to_string(), |(name, unit)| format!("{}{name}", bytes / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_and_perhaps_a_unit() {
        for (text, bytes) in [("0", 0), ("1", 1), ("007", 7), ("0GiB", 0), ("3KiB", 3_072), ("64MiB", 67_108_864)] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn refuses_all_else() {
        for text in ["", "MiB", "-1", "+1", "1.5GiB", "64 MiB", " 1", "1 ", "1MB", "1M", "1mib", "1B", "١", "é", "0x10"]
        {
            let message = parse(text).unwrap_err();
            assert!(message.contains("like 64MiB"), "{text}: {message}");
        }
    }

    #[test]
    fn refuses_what_overflows() {
        for text in ["99999999999999999999", "18446744073709551615GiB"] {
            assert!(parse(text).unwrap_err().contains("larger than can be counted"), "{text}");
        }
    }

    #[test]
    fn is_shown_as_it_can_be_read() {
        for text in ["0", "1023", "1KiB", "1025", "64MiB", "1GiB", "1025MiB"] {
            assert_eq!(shown(parse(text).unwrap()), text);
        }
    }
}

//! [`TraceParent`]: the trace that a request belongs to (W3C Trace Context, level 1).

use http::{HeaderMap, HeaderName};

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Length of `version "-" trace-id "-" parent-id "-" trace-flags`.
const LENGTH: usize = 55;

/// Header `traceparent` of a request: the trace that the caller is in, and the caller's span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceParent<'r>(&'r str);

impl<'r> TraceParent<'r> {
    /// Returns the header; `None` if it is absent, repeated, or not in the format of § 3.2 of the recommendation. Versions
    /// above 00 can have more after the flags; only what 00 defines is read (§ 4.3).
    #[must_use]
    pub fn of(headers: &'r HeaderMap) -> Option<Self> {
        let mut given = headers.get_all(TRACEPARENT).iter();
        let (Some(value), None) = (given.next(), given.next()) else { return None };
        Self::parse(value.to_str().ok()?)
    }

    fn parse(text: &'r str) -> Option<Self> {
        let (known, more) = text.as_bytes().split_at_checked(LENGTH)?;
        let is_valid_version = match &known[..2] {
            b"00" => more.is_empty(),
            b"ff" => false,
            version => version.iter().all(is_digit) && (more.is_empty() || more.starts_with(b"-")),
        };
        let is_valid = is_valid_version
            && known[2] == b'-'
            && is_id(&known[3..35])
            && known[35] == b'-'
            && is_id(&known[36..52])
            && known[52] == b'-'
            && known[53..].iter().all(is_digit);
        is_valid.then(|| Self(&text[..LENGTH]))
    }

    /// Returns the trace's id: 32 hexadecimal digits.
    #[must_use]
    pub fn trace_id(self) -> &'r str {
        &self.0[3..35]
    }

    /// Returns the id of the caller's span: 16 hexadecimal digits.
    #[must_use]
    pub fn parent_id(self) -> &'r str {
        &self.0[36..52]
    }

    /// Returns whether the caller may have recorded its part of the trace.
    #[must_use]
    pub fn is_sampled(self) -> bool {
        let last = self.0.as_bytes()[LENGTH - 1];
        // The lowest bit of a hexadecimal digit: 'a' to 'f' are the bytes 97 to 102, but have the values 10 to 15.
        if last.is_ascii_digit() { last & 1 == 1 } else { last & 1 == 0 }
    }
}

fn is_digit(byte: &u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

fn is_id(digits: &[u8]) -> bool {
    digits.iter().all(is_digit) && digits.iter().any(|&digit| digit != b'0')
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn valid_header_is_parsed() {
        let parent = TraceParent::parse(GOOD).unwrap();
        assert_eq!(parent.trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(parent.parent_id(), "00f067aa0ba902b7");
        assert!(parent.is_sampled());
        for (flags, sampled) in [("00", false), ("02", false), ("03", true), ("fa", false), ("0b", true), ("ff", true)]
        {
            let text = format!("{}{flags}", &GOOD[..53]);
            assert_eq!(TraceParent::parse(&text).unwrap().is_sampled(), sampled, "{flags}");
        }
    }

    #[test]
    fn later_version_is_parsed_by_known_fields() {
        let later = GOOD.replacen("00-", "cc-", 1);
        for text in [later.clone(), format!("{later}-"), format!("{later}-what-the-future-brings")] {
            let parent = TraceParent::parse(&text).unwrap();
            assert_eq!(parent, TraceParent(&later));
            assert!(parent.is_sampled() && parent.parent_id() == "00f067aa0ba902b7");
        }
    }

    #[test]
    fn invalid_header_is_ignored() {
        for bad in [
            "",
            "00",
            &GOOD[..54],
            &format!("{GOOD}0"),
            &format!("{GOOD}-00"),
            &GOOD.replacen("00-", "ff-", 1),
            &GOOD.replacen("00-", "0g-", 1),
            &GOOD.replacen("00-", "0A-", 1),
            &format!("{}0", GOOD.replacen("00-", "01-", 1)),
            &GOOD.replace('-', "_"),
            &GOOD.to_uppercase(),
            &GOOD.replace('b', "g"),
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        ] {
            assert_eq!(TraceParent::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn repeated_header_is_ignored() {
        let mut headers = HeaderMap::new();
        assert_eq!(TraceParent::of(&headers), None);
        headers.append(TRACEPARENT, HeaderValue::from_static(GOOD));
        assert_eq!(TraceParent::of(&headers), TraceParent::parse(GOOD));
        headers.append(TRACEPARENT, HeaderValue::from_static(GOOD));
        assert_eq!(TraceParent::of(&headers), None);
    }
}

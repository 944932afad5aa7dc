//! Whether clients can take a certificate: its version, its dates, and whether it names hosts.

use time::{Date, Duration, OffsetDateTime, PrimitiveDateTime, Time};

/// Tags of DER (X.690, 8.1.2) that stand on the way.
const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const OBJECT_IDENTIFIER: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const VERSION: u8 = 0xa0;
const ISSUER_ID: u8 = 0x81;
const SUBJECT_ID: u8 = 0x82;
const EXTENSIONS: u8 = 0xa3;

/// `id-ce-subjectAltName` (RFC 5280, 4.2.1.6).
const SUBJECT_ALT_NAME: [u8; 3] = [0x55, 0x1d, 0x11];

/// What a certificate says of when and for whom it is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Validity {
    /// Of X.509, from 1 on.
    pub(crate) version: u8,
    /// The first moment at which it is valid.
    pub(crate) not_before: OffsetDateTime,
    /// The last one.
    pub(crate) not_after: OffsetDateTime,
    /// Whether it has names where clients look for the server's (RFC 9525, 6.3).
    pub(crate) names_hosts: bool,
}

impl Validity {
    /// Reads it from a certificate in DER (RFC 5280, 4.1); `None` where that cannot be read.
    pub(crate) fn of(certificate: &[u8]) -> Option<Self> {
        let mut certificate = Der(certificate).take(SEQUENCE)?;
        let mut signed = certificate.take(SEQUENCE)?;
        // Version 1 leaves the version out, and version 3 is written as 2.
        let version = match signed.take(VERSION) {
            Some(mut version) => version.take(INTEGER)?.0.last()?.saturating_add(1),
            None => 1,
        };
        let _serial_number = signed.take(INTEGER)?;
        let _signature_algorithm = signed.take(SEQUENCE)?;
        let _issuer = signed.take(SEQUENCE)?;
        let mut dates = signed.take(SEQUENCE)?;
        let (not_before, not_after) = (dates.take_time()?, dates.take_time()?);
        let _subject = signed.take(SEQUENCE)?;
        let _public_key = signed.take(SEQUENCE)?;
        let _ = (signed.take(ISSUER_ID), signed.take(SUBJECT_ID));
        let names_hosts = signed.take(EXTENSIONS).is_some_and(Der::has_alternative_names);
        Some(Self { version, not_before, not_after, names_hosts })
    }

    /// Whether it ends `within` that time and should have been renewed. Services renew a certificate when a third of its
    /// time is left, or half of a short one, so that one with more than a quarter left is not late.
    pub(crate) fn is_due(&self, within: Duration, now: OffsetDateTime) -> bool {
        self.not_after - now < within.min((self.not_after - self.not_before) / 4)
    }
}

/// Elements of DER, one after the other.
#[derive(Clone, Copy)]
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// What the next element holds, if it has that tag.
    fn take(&mut self, tag: u8) -> Option<Self> {
        let (&found, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first().filter(|_| found == tag)?;
        let (length, rest) = if first < 0x80 {
            (usize::from(first), rest)
        } else {
            // The long form: the number of bytes that the length has.
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            let length = bytes
                .iter()
                .try_fold(0_usize, |length, &byte| length.checked_mul(0x100).map(|length| length | usize::from(byte)));
            (length?, rest)
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(Self(content))
    }

    /// Whether one of the extensions is the subject's alternative names.
    fn has_alternative_names(mut self) -> bool {
        let Some(mut extensions) = self.take(SEQUENCE) else { return false };
        while let Some(mut extension) = extensions.take(SEQUENCE) {
            if extension.take(OBJECT_IDENTIFIER).is_some_and(|id| id.0 == SUBJECT_ALT_NAME) {
                return true;
            }
        }
        false
    }

    /// A time in one of the two forms that RFC 5280, 4.1.2.5, allows.
    fn take_time(&mut self) -> Option<OffsetDateTime> {
        let (Der(text), years) = match self.take(UTC_TIME) {
            Some(text) => (text, 2),
            None => (self.take(GENERALIZED_TIME)?, 4),
        };
        let text = str::from_utf8(text).ok()?.strip_suffix('Z')?;
        if text.len() != years + 10 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let (year, rest) = text.split_at(years);
        let year: i32 = year.parse().ok()?;
        let year = match years {
            2 if year < 50 => 2000 + year,
            2 => 1900 + year,
            _ => year,
        };
        let part = |index: usize| rest[2 * index..][..2].parse::<u8>().ok();
        let date = Date::from_calendar_date(year, part(0)?.try_into().ok()?, part(1)?).ok()?;
        let time = Time::from_hms(part(2)?, part(3)?, part(4)?).ok()?;
        Some(PrimitiveDateTime::new(date, time).assume_utc())
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair};

    use super::*;

    fn certificate(not_before: OffsetDateTime, not_after: OffsetDateTime) -> Vec<u8> {
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        (params.not_before, params.not_after) = (not_before, not_after);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    fn at(seconds: i64) -> OffsetDateTime {
        OffsetDateTime::from_unix_timestamp(seconds).unwrap()
    }

    #[test]
    fn both_forms_of_a_date_are_read() {
        // 1950, 1999, 2049 are written with two digits of the year, 2050 and 9999 with four.
        for (not_before, not_after) in [
            (-631_152_000, 946_684_799),
            (1_700_000_000, 2_524_607_999),
            (1_700_000_000, 2_524_608_000),
            (2_524_608_000, 253_402_300_799),
        ] {
            let (not_before, not_after) = (at(not_before), at(not_after));
            let validity = Validity { version: 3, not_before, not_after, names_hosts: true };
            assert_eq!(Validity::of(&certificate(not_before, not_after)), Some(validity));
        }
    }

    #[test]
    fn a_certificate_may_name_no_host() {
        let params = CertificateParams::new([]).unwrap();
        let unnamed = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        assert!(!Validity::of(unnamed.der()).unwrap().names_hosts);
    }

    #[test]
    fn what_is_cut_off_or_altered_has_no_dates_or_others_and_never_panics() {
        let whole = certificate(at(0), at(1));
        for end in 0..whole.len() {
            assert_eq!(Validity::of(&whole[..end]), None, "{end}");
        }
        for place in 0..whole.len() {
            for byte in [0x00, 0x7f, 0x80, 0x84, 0x88, 0xff] {
                let mut altered = whole.clone();
                altered[place] = byte;
                let _ = Validity::of(&altered);
            }
        }
    }

    #[test]
    fn a_length_beyond_all_memory_is_refused() {
        assert_eq!(Validity::of(&[0x30, 0x89, 1, 0, 0, 0, 0, 0, 0, 0, 0]), None);
        assert_eq!(Validity::of(&[0x30, 0x88, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), None);
    }
}

//! Version and validity of a certificate.

use der::asn1::{AnyRef, ContextSpecific};
use der::{Decode as _, Reader as _, Result, SliceReader, Tag, TagNumber, Tagged as _};
use time::{Duration, OffsetDateTime, PrimitiveDateTime, format_description};

/// Period in which a certificate is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// The first moment at which the certificate is valid.
    pub not_before: OffsetDateTime,
    /// The last moment at which the certificate is valid.
    pub not_after: OffsetDateTime,
}

impl Validity {
    /// Returns whether the certificate should have been renewed: it ends `within` this time, or within a quarter of its
    /// lifetime if that is shorter. Automatic services renew long before.
    pub fn is_renewal_due(&self, within: Duration, now: OffsetDateTime) -> bool {
        self.not_after - now < within.min((self.not_after - self.not_before) / 4)
    }
}

/// Returns the X.509 version, from 1 on, and the validity of a certificate in DER (RFC 5280, 4.1). Skips all else.
pub(super) fn version_and_validity(certificate: &[u8]) -> Result<(u8, Validity)> {
    let mut to_be_signed = sequence(&mut sequence(&mut SliceReader::new(certificate)?)?)?;
    // Version 1 omits this field, and version 3 is encoded as 2.
    let version = ContextSpecific::<u8>::decode_explicit(&mut to_be_signed, TagNumber::N0)?;
    let version = version.map_or(1, |version| version.value.saturating_add(1));
    for _skipped in ["serialNumber", "signature", "issuer"] {
        AnyRef::decode(&mut to_be_signed)?;
    }
    let mut dates = sequence(&mut to_be_signed)?;
    let validity = Validity { not_before: date(&mut dates)?, not_after: date(&mut dates)? };
    while !to_be_signed.is_finished() {
        AnyRef::decode(&mut to_be_signed)?;
    }
    Ok((version, validity))
}

/// Returns the content of the next element, which must be a sequence.
fn sequence<'a>(reader: &mut SliceReader<'a>) -> Result<SliceReader<'a>> {
    let element = AnyRef::decode(reader)?;
    element.tag().assert_eq(Tag::Sequence)?;
    SliceReader::new(element.value())
}

/// Parses a date in either form that RFC 5280, 4.1.2.5, allows. Types of `der` have no dates before 1970.
fn date(dates: &mut SliceReader<'_>) -> Result<OffsetDateTime> {
    let date = AnyRef::decode(dates)?;
    let text = str::from_utf8(date.value())?;
    let text = match date.tag() {
        Tag::UtcTime => format!("{}{text}", if text < "50" { "20" } else { "19" }),
        Tag::GeneralizedTime => text.to_owned(),
        tag => return Err(tag.value_error()),
    };
    let form =
        format_description::parse_borrowed::<2>("[year][month][day][hour][minute][second]Z").expect("it is valid");
    Ok(PrimitiveDateTime::parse(&text, &form).map_err(|_| date.tag().value_error())?.assume_utc())
}

#[cfg(test)]
mod tests;

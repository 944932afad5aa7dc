//! What a certificate says by itself: its version and when it is valid.

use der::asn1::{AnyRef, ContextSpecific};
use der::{Decode as _, Reader as _, Result, SliceReader, Tag, TagNumber, Tagged as _};
use time::{Duration, OffsetDateTime, PrimitiveDateTime, format_description};

/// When a certificate is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// The first moment at which it is valid.
    pub not_before: OffsetDateTime,
    /// The last moment.
    pub not_after: OffsetDateTime,
}

impl Validity {
    /// Whether it ends `within` that time, or within a quarter of its lifetime where that is shorter: services renew it
    /// long before.
    pub fn is_due(&self, within: Duration, now: OffsetDateTime) -> bool {
        self.not_after - now < within.min((self.not_after - self.not_before) / 4)
    }
}

/// The version of X.509, from 1 on, and the validity of a certificate in DER (RFC 5280, 4.1); all else is passed over.
pub(super) fn version_and_validity(certificate: &[u8]) -> Result<(u8, Validity)> {
    let mut to_be_signed = sequence(&mut sequence(&mut SliceReader::new(certificate)?)?)?;
    // Version 1 leaves the version out, and version 3 is written as 2.
    let version = ContextSpecific::<u8>::decode_explicit(&mut to_be_signed, TagNumber::N0)?;
    let version = version.map_or(1, |version| version.value.saturating_add(1));
    for _passed_over in ["serialNumber", "signature", "issuer"] {
        AnyRef::decode(&mut to_be_signed)?;
    }
    let mut dates = sequence(&mut to_be_signed)?;
    let validity = Validity { not_before: date(&mut dates)?, not_after: date(&mut dates)? };
    while !to_be_signed.is_finished() {
        AnyRef::decode(&mut to_be_signed)?;
    }
    Ok((version, validity))
}

/// What the next element holds, if it is a sequence.
fn sequence<'a>(reader: &mut SliceReader<'a>) -> Result<SliceReader<'a>> {
    let element = AnyRef::decode(reader)?;
    element.tag().assert_eq(Tag::Sequence)?;
    SliceReader::new(element.value())
}

/// A date in one of the two forms that RFC 5280, 4.1.2.5, allows. `der` has none before 1970.
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

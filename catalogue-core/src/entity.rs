//! [`Entity`]: finished bytes, as they are and compressed, with all that an answer says of them.

use std::fmt;
use std::io::Write as _;
use std::sync::OnceLock;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::HeaderValue;

use crate::conditional::ETag;

/// Below this size, in bytes, compression saves no packet.
const SMALLEST_COMPRESSED: usize = 1_024;

/// Finished bytes with their media type and tag. The compressed form is made when the first caller asks for it, and
/// kept.
pub(crate) struct Entity {
    pub(crate) media_type: HeaderValue,
    pub(crate) etag: ETag,
    /// The `Link` to the page after this one (decision A18).
    pub(crate) link: Option<HeaderValue>,
    /// The Content Security Policy of a page; nothing else has one.
    pub(crate) policy: Option<HeaderValue>,
    plain: Form,
    gzip: OnceLock<Option<Form>>,
}

impl fmt::Debug for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entity").field("media_type", &self.media_type).field("etag", &self.etag).finish_non_exhaustive()
    }
}

/// The bytes of one content coding.
#[derive(Clone)]
pub(crate) struct Form {
    pub(crate) body: Bytes,
    pub(crate) length: HeaderValue,
}

impl Form {
    fn new(body: Bytes) -> Self {
        Self { length: HeaderValue::from(body.len()), body }
    }
}

impl Entity {
    /// An entity with that tag, and the `Link` to the one after it.
    pub(crate) fn new(media_type: &'static str, body: Bytes, etag: ETag, link: Option<HeaderValue>) -> Self {
        let media_type = HeaderValue::from_static(media_type);
        Self { media_type, etag, link, policy: None, plain: Form::new(body), gzip: OnceLock::new() }
    }

    /// An entity whose tag is made from its bytes.
    pub(crate) fn of_bytes(media_type: &'static str, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let etag = ETag::of_bytes(&body);
        Self::new(media_type, body, etag, None)
    }

    /// The same as a page of which a browser may load and run only what the policy names.
    pub(crate) fn with_policy(self, policy: HeaderValue) -> Self {
        Self { policy: Some(policy), ..self }
    }

    /// The bytes as they are.
    pub(crate) fn plain(&self) -> &Form {
        &self.plain
    }

    /// The bytes compressed, or `None` where that does not halve them.
    pub(crate) fn gzip(&self) -> Option<&Form> {
        if self.plain.body.len() < SMALLEST_COMPRESSED {
            return None;
        }
        self.gzip.get_or_init(|| compress(&self.plain.body).map(Form::new)).as_ref()
    }

    /// The most bytes that the entity and its compressed form take up.
    pub(crate) fn weight(&self) -> usize {
        let link = self.link.as_ref().map_or(0, HeaderValue::len);
        size_of::<Self>() + self.plain.body.len() * 3 / 2 + link
    }
}

/// `bytes` in gzip (RFC 1952), or `None` where that does not halve them.
fn compress(bytes: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 2), Compression::new(5));
    encoder.write_all(bytes).and_then(|()| encoder.finish()).ok().filter(|gzip| gzip.len() <= bytes.len() / 2).map(
        |mut gzip| {
            gzip.shrink_to_fit();
            gzip.into()
        },
    )
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn the_compressed_form_is_the_same_bytes() {
        let body = "what repeats is short ".repeat(100);
        let entity = Entity::of_bytes("text/plain", body.clone());
        let mut plain = String::new();
        flate2::read::GzDecoder::new(&*entity.gzip().unwrap().body).read_to_string(&mut plain).unwrap();
        assert_eq!(plain, body);
        assert!(entity.weight() >= body.len() + entity.gzip().unwrap().body.len());
    }

    #[test]
    fn what_is_small_or_stays_large_is_left_alone() {
        assert!(Entity::of_bytes("text/plain", "x".repeat(1_023)).gzip().is_none());
        assert!(Entity::of_bytes("text/plain", "x".repeat(1_024)).gzip().is_some());
        let mut noise = [0; 4_096];
        getrandom::fill(&mut noise).unwrap();
        assert!(Entity::of_bytes("text/plain", noise.to_vec()).gzip().is_none());
    }
}

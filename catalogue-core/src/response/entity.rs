//! [`Entity`]: finished bytes, as they are and compressed, with all that an answer says of them.

use std::io::Write as _;
use std::sync::OnceLock;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::HeaderValue;

use crate::response::conditional::ETag;

/// The methods of every known path, as `Allow` lists them (decision R5).
pub(crate) const ALLOWED_METHODS: &str = "GET, HEAD, OPTIONS";

/// Below this size, in bytes, compression saves no packet.
const SMALLEST_COMPRESSED: usize = 1_024;

/// So that an answer is small, and the first caller hardly waits for it.
const GZIP_LEVEL: u32 = 5;

/// Finished bytes with their media type and tag. The compressed form is made when the first caller asks for it, and kept.
#[derive(Debug)]
pub(crate) struct Entity {
    pub(crate) media_type: HeaderValue,
    /// The bytes as they are.
    pub(crate) plain: Bytes,
    pub(crate) etag: ETag,
    /// The `Link` to the page after this one (decision A18).
    pub(crate) link: Option<HeaderValue>,
    /// The Content Security Policy of a page; nothing else has one, or room for it.
    pub(crate) policy: Option<Box<HeaderValue>>,
    /// `None` if it would save too little.
    compressed: OnceLock<Option<Bytes>>,
}

impl Entity {
    /// An entity with that tag, and the `Link` to the one after it.
    pub(crate) fn new(media_type: &'static str, mut body: Vec<u8>, etag: ETag, link: Option<HeaderValue>) -> Self {
        body.shrink_to_fit();
        let media_type = HeaderValue::from_static(media_type);
        Self { media_type, etag, link, policy: None, plain: body.into(), compressed: OnceLock::new() }
    }

    /// An entity whose tag is made from its bytes.
    pub(crate) fn of_bytes(media_type: &'static str, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        let etag = ETag::of_bytes(&body);
        Self::new(media_type, body, etag, None)
    }

    /// The same as a page of which a browser may load and run only what the policy names.
    pub(crate) fn with_policy(self, policy: HeaderValue) -> Self {
        Self { policy: Some(policy.into()), ..self }
    }

    /// The bytes compressed with gzip (RFC 1952); `None` if they are few, or not halved by it.
    pub(crate) fn compressed(&self) -> Option<&Bytes> {
        if self.plain.len() < SMALLEST_COMPRESSED {
            return None;
        }
        self.compressed.get_or_init(|| self.compress()).as_ref()
    }

    fn compress(&self) -> Option<Bytes> {
        let room = Vec::with_capacity(self.plain.len() / 4);
        let mut encoder = GzEncoder::new(room, Compression::new(GZIP_LEVEL));
        encoder.write_all(&self.plain).ok()?;
        let mut compressed = encoder.finish().ok().filter(|bytes| bytes.len() <= self.plain.len() / 2)?;
        compressed.shrink_to_fit();
        Some(compressed.into())
    }

    /// The most bytes that an entity and its compressed form take up.
    pub(crate) fn weight(&self) -> usize {
        let (bytes, link) = (self.plain.len(), self.link.as_ref().map_or(0, HeaderValue::len));
        size_of::<Self>() + bytes + bytes / 2 + link
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn the_compressed_form_is_the_same_bytes() {
        let body = "what repeats is short ".repeat(100);
        let entity = Entity::of_bytes("text/plain", &*body);
        let (form, mut plain) = (entity.compressed().unwrap(), Vec::new());
        flate2::read::GzDecoder::new(&**form).read_to_end(&mut plain).unwrap();
        assert_eq!(plain, body.as_bytes());
        assert!(entity.weight() >= body.len() + form.len());
    }

    #[test]
    fn what_is_small_or_stays_large_is_left_alone() {
        let mut noise = [0; 4_096];
        getrandom::fill(&mut noise).unwrap();
        assert!(Entity::of_bytes("text/plain", "x".repeat(1_023)).compressed().is_none());
        assert!(Entity::of_bytes("text/plain", "x".repeat(1_024)).compressed().is_some());
        assert!(Entity::of_bytes("text/plain", noise).compressed().is_none());
    }

    #[test]
    fn nothing_is_weighed_that_is_not_there() {
        let weight = |bytes: usize, link: Option<&'static str>| {
            let link = link.map(HeaderValue::from_static);
            Entity::new("text/plain", vec![b'x'; bytes], ETag::of_bytes(b""), link).weight()
        };
        assert_eq!(weight(1 << 13, Some("link")), weight(1 << 13, None) + 4);
        assert_eq!(weight(0, None), size_of::<Entity>());
        assert_eq!(weight(1 << 13, None), size_of::<Entity>() + (1 << 13) + (1 << 12));
    }
}

//! [`Entity`]: finished bytes, plain and compressed, with the headers that describe them.

use std::io::Write as _;
use std::sync::OnceLock;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::HeaderValue;

use crate::response::conditional::ETag;

/// The methods of every known path, as `Allow` lists them (decision R5).
pub(crate) const ALLOWED_METHODS: &str = "GET, HEAD, OPTIONS";

/// Minimum size of a body to compress, in bytes; below it, compression saves no packet.
const MIN_COMPRESSED_BYTES: usize = 1_024;

/// gzip compression level: a compromise between small responses and a short wait for the first caller.
const GZIP_LEVEL: u32 = 5;

/// Finished bytes with their media type and tag. The compressed bytes are made on the first request for them, and kept.
#[derive(Debug)]
pub(crate) struct Entity {
    pub(crate) media_type: HeaderValue,
    pub(crate) plain: Bytes,
    pub(crate) etag: ETag,
    /// `Link` to the next page (decision A18).
    pub(crate) link: Option<HeaderValue>,
    /// Content Security Policy of an HTML page. Boxed, so that other entities do not reserve space for it.
    pub(crate) policy: Option<Box<HeaderValue>>,
    /// Compressed bytes, or `None` if compression would save too little.
    compressed: OnceLock<Option<Bytes>>,
}

impl Entity {
    /// Creates an entity with `etag`, and the `Link` to the next page.
    pub(crate) fn new(media_type: &'static str, mut body: Vec<u8>, etag: ETag, link: Option<HeaderValue>) -> Self {
        body.shrink_to_fit();
        let media_type = HeaderValue::from_static(media_type);
        Self { media_type, etag, link, policy: None, plain: body.into(), compressed: OnceLock::new() }
    }

    /// Creates an entity whose tag is a digest of its bytes.
    pub(crate) fn from_bytes(media_type: &'static str, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        let etag = ETag::from_bytes(&body);
        Self::new(media_type, body, etag, None)
    }

    /// Adds a Content Security Policy, which limits what a browser may load and run for an HTML page.
    pub(crate) fn with_policy(self, policy: HeaderValue) -> Self {
        Self { policy: Some(policy.into()), ..self }
    }

    /// Returns the bytes compressed with gzip (RFC 1952), or `None` if they are few or gzip does not halve them.
    pub(crate) fn compressed(&self) -> Option<&Bytes> {
        if self.plain.len() < MIN_COMPRESSED_BYTES {
            return None;
        }
        self.compressed.get_or_init(|| self.compress()).as_ref()
    }

    fn compress(&self) -> Option<Bytes> {
        let buffer = Vec::with_capacity(self.plain.len() / 4);
        let mut encoder = GzEncoder::new(buffer, Compression::new(GZIP_LEVEL));
        encoder.write_all(&self.plain).ok()?;
        let mut compressed = encoder.finish().ok().filter(|bytes| bytes.len() <= self.plain.len() / 2)?;
        compressed.shrink_to_fit();
        Some(compressed.into())
    }

    /// Returns the maximum number of bytes that the entity and its compressed bytes occupy.
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
    fn compressed_body_decompresses_to_same_bytes() {
        let body = "what repeats is short ".repeat(100);
        let entity = Entity::from_bytes("text/plain", &*body);
        let (compressed, mut plain) = (entity.compressed().unwrap(), Vec::new());
        flate2::read::GzDecoder::new(&**compressed).read_to_end(&mut plain).unwrap();
        assert_eq!(plain, body.as_bytes());
        assert!(entity.weight() >= body.len() + compressed.len());
    }

    #[test]
    fn small_or_incompressible_body_is_not_compressed() {
        let mut noise = [0; 4_096];
        getrandom::fill(&mut noise).unwrap();
        assert!(Entity::from_bytes("text/plain", "x".repeat(1_023)).compressed().is_none());
        assert!(Entity::from_bytes("text/plain", "x".repeat(1_024)).compressed().is_some());
        assert!(Entity::from_bytes("text/plain", noise).compressed().is_none());
    }

    #[test]
    fn weight_includes_compressed_bytes_and_link() {
        let weight = |bytes: usize, link: Option<&'static str>| {
            let link = link.map(HeaderValue::from_static);
            Entity::new("text/plain", vec![b'x'; bytes], ETag::from_bytes(b""), link).weight()
        };
        assert_eq!(weight(1 << 13, Some("link")), weight(1 << 13, None) + 4);
        assert_eq!(weight(0, None), size_of::<Entity>());
        assert_eq!(weight(1 << 13, None), size_of::<Entity>() + (1 << 13) + (1 << 12));
    }
}

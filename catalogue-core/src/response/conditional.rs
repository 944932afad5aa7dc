//! Weak entity tags and `If-None-Match` (RFC 9110 sections 8.8.3 and 13.1.2; decision A14).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::IF_NONE_MATCH;
use http::{HeaderMap, HeaderValue};
use sha2::{Digest, Sha256};

/// Maximum length of `If-None-Match` in bytes: some 140 of the catalogue's tags. A longer list does not match.
const MAX_HEADER_BYTES: usize = 4 * 1024;

/// A weak entity tag; weak, so that it survives compression by a proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ETag(HeaderValue);

impl ETag {
    /// Creates the tag of `bytes`: 128 bits of their SHA-256.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        Self::from_digest(Sha256::new_with_prefix(bytes))
    }

    /// Creates a tag from the first 128 bits of `digest`.
    pub(crate) fn from_digest(digest: Sha256) -> Self {
        let mut tag = *b"W/\"1234567890123456789012\"";
        let length = URL_SAFE_NO_PAD.encode_slice(&digest.finalize()[..16], &mut tag[3..25]);
        debug_assert_eq!(length, Ok(22), "16 bytes are 22 characters of base64");
        Self(HeaderValue::from_bytes(&tag).expect("base64 is visible ASCII"))
    }

    pub(crate) fn header(&self) -> HeaderValue {
        self.0.clone()
    }

    /// Returns whether the request's `If-None-Match` is `*` or lists this tag, by weak comparison.
    pub(crate) fn is_matched_by(&self, headers: &HeaderMap) -> bool {
        headers.contains_key(IF_NONE_MATCH) && (has_wildcard(headers) || self.is_listed_in(headers))
    }

    /// Returns whether the request's `If-None-Match` lists this tag, by weak comparison. `*` lists no tag.
    pub(crate) fn is_listed_in(&self, headers: &HeaderMap) -> bool {
        let (fields, opaque) = (headers.get_all(IF_NONE_MATCH), opaque_tag(self.0.as_bytes()));
        let bytes: usize = fields.iter().map(HeaderValue::len).sum();
        bytes <= MAX_HEADER_BYTES && fields.iter().any(|field| lists(field.as_bytes(), opaque))
    }
}

/// Returns whether the request's `If-None-Match` is `*`, which matches any tag.
pub(crate) fn has_wildcard(headers: &HeaderMap) -> bool {
    headers.get_all(IF_NONE_MATCH).iter().any(|field| field.as_bytes().trim_ascii() == b"*")
}

/// Returns the tag with its quotes, without the prefix `W/` of weak tags.
fn opaque_tag(tag: &[u8]) -> &[u8] {
    tag.strip_prefix(b"W/").unwrap_or(tag)
}

/// Returns whether a list of entity tags contains `expected`. Tags may contain commas, so they are parsed one by one.
fn lists(mut field: &[u8], expected: &[u8]) -> bool {
    loop {
        while let [b' ' | b'\t' | b',', rest @ ..] = field {
            field = rest;
        }
        let tag = opaque_tag(field);
        let [b'"', rest @ ..] = tag else { return false };
        let Some(length) = rest.iter().position(|&b| b == b'"') else { return false };
        let end = length + 2;
        if &tag[..end] == expected {
            return true;
        }
        field = &tag[end..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn if_none_match_list_is_compared_weakly() {
        for (field, named) in [
            (r#"W/"a""#, true),
            (r#""a""#, true),
            (r#""x", W/"a""#, true),
            (r#""x,\", W/"y" ,, "a""#, true),
            ("*", false),
            (r#""b""#, false),
            (r#""a"#, false),
            ("a", false),
            ("", false),
            (r#""*""#, false),
            (r#"x, "a""#, false),
        ] {
            assert_eq!(lists(field.as_bytes(), br#""a""#), named, "{field}");
        }
    }

    #[test]
    fn star_matches_any_tag() {
        for (field, named) in [("*", true), (" * ", true), ("\"*\"", false), ("*, \"a\"", false)] {
            let headers = HeaderMap::from_iter([(IF_NONE_MATCH, HeaderValue::from_static(field))]);
            assert_eq!(ETag::from_bytes(b"one").is_matched_by(&headers), named, "{field}");
        }
    }

    #[test]
    fn overlong_if_none_match_is_ignored() {
        let tag = ETag::from_bytes(b"one");
        let own = tag.header().to_str().unwrap().to_owned();
        let with = |bytes: usize| format!("{own}, \"{}\"", "x".repeat(bytes - own.len() - 4));
        let is_listed = |fields: &[String]| {
            let fields = fields.iter().map(|field| (IF_NONE_MATCH, HeaderValue::try_from(field).unwrap()));
            tag.is_listed_in(&fields.collect())
        };
        assert!(
            is_listed(&[with(MAX_HEADER_BYTES)])
                && is_listed(&[with(MAX_HEADER_BYTES / 2), with(MAX_HEADER_BYTES / 2)])
        );
        assert!(is_listed(&[with(140 * (own.len() + 2))]), "140 tags");
        assert!(!is_listed(&[with(MAX_HEADER_BYTES + 1)]));
        assert!(!is_listed(&[with(MAX_HEADER_BYTES / 2), with(MAX_HEADER_BYTES / 2), own.clone()]));
    }

    #[test]
    fn equal_bytes_have_equal_tags() {
        assert_eq!(ETag::from_bytes(b"one"), ETag::from_bytes(b"one"));
        assert_ne!(ETag::from_bytes(b"one"), ETag::from_bytes(b"two"));
        assert!(ETag::from_bytes(b"one").header().to_str().unwrap().starts_with("W/\""));
    }
}

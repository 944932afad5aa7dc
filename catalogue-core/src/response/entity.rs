//! [`Entity`]: finished bytes, as they are and compressed, with all that an answer says of them.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::HeaderValue;

use crate::response::coding::Coding;
use crate::response::conditional::ETag;

/// The methods of every known path, as `Allow` lists them (decision R5).
pub(crate) const ALLOWED_METHODS: &str = "GET, HEAD, OPTIONS";

/// Below this size, in bytes, compression saves no packet.
const SMALLEST_COMPRESSED: usize = 1_024;

/// Up to this size, in bytes, there is room for every form, however little it saves.
const SMALL: usize = 8 * 1_024;

/// What all compressed forms of so many bytes may take up together. Each halves them at least, and usually leaves a fifth.
const fn room_for_forms(bytes: usize) -> usize {
    if bytes <= SMALL || Coding::ALL.len() == 1 { bytes / 2 * Coding::ALL.len() } else { bytes / 3 * 2 }
}

/// Finished bytes with their media type and tag. A compressed form is made when the first caller asks for it, and kept.
///
/// Laid out as it stands here, so that what most answers read is one piece of memory.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Entity {
    pub(crate) media_type: HeaderValue,
    /// The bytes as they are.
    pub(crate) plain: Form,
    pub(crate) etag: ETag,
    /// The `Link` to the page after this one (decision A18).
    pub(crate) link: Option<HeaderValue>,
    /// The Content Security Policy of a page; nothing else has one, or room for it.
    pub(crate) policy: Option<Box<HeaderValue>>,
    /// In the order of [`Coding::ALL`]; `None` where that form would not fit.
    compressed: [OnceLock<Option<Form>>; Coding::ALL.len()],
    /// How many bytes further forms may take up.
    room: AtomicUsize,
}

/// The bytes of one content coding.
#[derive(Debug)]
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
    pub(crate) fn new(media_type: &'static str, body: &[u8], etag: ETag, link: Option<HeaderValue>) -> Self {
        let media_type = HeaderValue::from_static(media_type);
        let room = AtomicUsize::new(room_for_forms(body.len()));
        let (mut etag, mut link, mut length) = (etag, link, HeaderValue::from(body.len()));
        let body = lay_together(body, [&mut etag.0, &mut length].into_iter().chain(&mut link));
        let plain = Form { body, length };
        Self { media_type, etag, link, policy: None, plain, compressed: Default::default(), room }
    }

    /// One whose tag is made from its bytes, and whose forms have all the room that they need: a document.
    pub(crate) fn of_bytes(media_type: &'static str, body: impl AsRef<[u8]>) -> Self {
        let etag = ETag::of_bytes(body.as_ref());
        Self { room: AtomicUsize::new(usize::MAX), ..Self::new(media_type, body.as_ref(), etag, None) }
    }

    /// The same as a page of which a browser may load and run only what the policy names.
    pub(crate) fn with_policy(self, policy: HeaderValue) -> Self {
        Self { policy: Some(policy.into()), ..self }
    }

    /// The bytes compressed; `None` where they are few, not halved by it, or other forms have taken the room.
    pub(crate) fn compressed(&self, coding: Coding) -> Option<&Form> {
        if self.plain.body.len() < SMALLEST_COMPRESSED {
            return None;
        }
        self.compressed[coding as usize].get_or_init(|| self.compress(coding)).as_ref()
    }

    fn compress(&self, coding: Coding) -> Option<Form> {
        let compressed = coding.compress(&self.plain.body).ok();
        let mut compressed = compressed.filter(|compressed| compressed.len() <= self.plain.body.len() / 2)?;
        let take = |room: usize| room.checked_sub(compressed.len());
        self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        compressed.shrink_to_fit();
        Some(Form::new(compressed.into()))
    }

    /// The most bytes that a [new](Self::new) entity and its compressed forms take up.
    pub(crate) fn weight(&self) -> usize {
        let link = self.link.as_ref().map_or(0, HeaderValue::len);
        size_of::<Self>() + self.plain.body.len() + room_for_forms(self.plain.body.len()) + link
    }
}

/// Copies values and body into one block of memory with one count, and makes the values pieces of it: the memory of an answer
/// that was not sent lately is far from the processor, and so is each count. The values stand first, as they are read first.
fn lay_together<'v>(body: &[u8], values: impl Iterator<Item = &'v mut HeaderValue>) -> Bytes {
    let values: Vec<_> = values.collect();
    let texts = values.iter().map(|value| value.as_bytes());
    let mut rest = Bytes::from(texts.chain([body]).collect::<Vec<_>>().concat());
    for value in values {
        *value = HeaderValue::from_maybe_shared(rest.split_to(value.len())).expect("it was a value before");
    }
    rest
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn decoded(coding: Coding, compressed: &[u8]) -> Vec<u8> {
        let mut plain = Vec::new();
        match coding {
            #[cfg(feature = "brotli")]
            Coding::Brotli => {
                brotli::BrotliDecompress(&mut &*compressed, &mut plain).unwrap();
            }
            #[cfg(feature = "zstd")]
            Coding::Zstd => plain = zstd::bulk::decompress(compressed, 1 << 20).unwrap(),
            Coding::Gzip => {
                flate2::read::GzDecoder::new(compressed).read_to_end(&mut plain).unwrap();
            }
        }
        plain
    }

    #[test]
    fn the_compressed_forms_are_the_same_bytes() {
        let body = "what repeats is short ".repeat(100);
        let entity = Entity::of_bytes("text/plain", &body);
        let mut bytes = body.len();
        for coding in Coding::ALL {
            let form = entity.compressed(*coding).unwrap();
            assert_eq!(decoded(*coding, &form.body), body.as_bytes(), "{coding:?}");
            bytes += form.body.len();
        }
        assert!(entity.weight() >= bytes);
    }

    #[test]
    fn what_is_small_or_stays_large_is_left_alone() {
        let mut noise = [0; 4_096];
        getrandom::fill(&mut noise).unwrap();
        for coding in Coding::ALL {
            assert!(Entity::of_bytes("text/plain", "x".repeat(1_023)).compressed(*coding).is_none());
            assert!(Entity::of_bytes("text/plain", "x".repeat(1_024)).compressed(*coding).is_some());
            assert!(Entity::of_bytes("text/plain", noise).compressed(*coding).is_none());
        }
    }

    /// Of each line's 64 characters the first 22 are random digits, so that each form takes up more than a fifth.
    fn hardly_compressible(lines: usize) -> String {
        let mut noise = vec![0; lines * 11];
        getrandom::fill(&mut noise).unwrap();
        let line = |noise: &[u8]| noise.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + &"-".repeat(42);
        noise.chunks(11).map(line).collect()
    }

    #[test]
    fn a_small_answer_has_every_form() {
        let body = hardly_compressible(32);
        let entity = Entity::new("text/plain", body.as_bytes(), ETag::of_bytes(body.as_bytes()), None);
        let forms: Vec<_> = Coding::ALL.iter().map(|coding| entity.compressed(*coding)).collect();
        assert!(forms.iter().all(Option::is_some), "{} bytes", body.len());
        assert!(entity.weight() >= body.len() + forms.iter().flatten().map(|form| form.body.len()).sum::<usize>());
    }

    #[test]
    fn all_forms_together_take_up_what_they_are_weighed_with() {
        let body = hardly_compressible(372);
        let entity = Entity::new("text/plain", body.as_bytes(), ETag::of_bytes(body.as_bytes()), None);
        let forms = Coding::ALL.iter().filter_map(|coding| entity.compressed(*coding)).map(|form| form.body.len());
        let bytes: usize = forms.sum();
        assert!(bytes > 0 && entity.weight() >= body.len() + bytes, "{bytes} of {}", body.len());
        // Two of several find room.
        assert!(Coding::ALL.len() == 1 || bytes > body.len() / 3, "{bytes} of {}", body.len());
    }

    #[test]
    fn nothing_is_weighed_that_is_not_there() {
        let weight = |bytes: usize, link: Option<&'static str>| {
            let link = link.map(HeaderValue::from_static);
            Entity::new("text/plain", &vec![b'x'; bytes], ETag::of_bytes(b""), link).weight()
        };
        assert_eq!(weight(SMALL, Some("link")), weight(SMALL, None) + 4);
        assert_eq!(weight(0, None), size_of::<Entity>());
        assert!(weight(SMALL, None) <= size_of::<Entity>() + SMALL + SMALL / 2 * Coding::ALL.len());
        assert!(weight(1 << 20, None) <= size_of::<Entity>() + (2 << 20));
    }
}

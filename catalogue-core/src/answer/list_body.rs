//! [`ListBody`]: the items of a page as JSON, written while the storage reads them.

use serde::Serialize;

use crate::answer::envelope::PaginationMeta;
use crate::cursor::Cursor;

/// How many bytes an item usually takes up.
const USUAL_ITEM: usize = 224;

/// The body of a page without its end: an envelope whose `data` is still open.
///
/// It is what serialising a [`SuccessPage`](crate::answer::envelope::SuccessPage) gives, without texts in between.
#[derive(Debug)]
pub(crate) struct ListBody {
    json: Vec<u8>,
    items: usize,
}

impl ListBody {
    /// A body that has room for that many usual items.
    pub(crate) fn with_capacity(items: usize) -> Self {
        let mut json = Vec::with_capacity((items + 1) * USUAL_ITEM);
        json.extend_from_slice(br#"{"data":["#);
        Self { json, items: 0 }
    }

    /// Adds the next item, which `write` writes as JSON.
    pub(crate) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if self.items > 0 {
            self.json.push(b',');
        }
        write(&mut self.json);
        self.items += 1;
    }

    /// The whole body, which says where the next page starts.
    pub(crate) fn finish(mut self, next: Option<&Cursor>) -> Vec<u8> {
        self.json.extend_from_slice(b"],\"meta\":");
        write(&mut self.json, &PaginationMeta { next_cursor: next.map(Cursor::as_str) });
        self.json.push(b'}');
        self.json
    }
}

/// Writes a text. Most stand in JSON as they are; the others are for the library.
pub(crate) fn write_text(json: &mut Vec<u8>, text: &str) {
    if has_escapes(text.as_bytes()) {
        return write(json, text);
    }
    json.push(b'"');
    json.extend_from_slice(text.as_bytes());
    json.push(b'"');
}

/// Whether JSON would have to escape one of the bytes (RFC 8259 section 7). Eight are looked at at once, some of the last eight
/// twice.
fn has_escapes(bytes: &[u8]) -> bool {
    let Some(last) = bytes.last_chunk::<8>() else {
        return bytes.iter().any(|byte| matches!(byte, 0..0x20 | b'"' | b'\\'));
    };
    let escapes = |word: &[u8; 8]| escapes_in(u64::from_ne_bytes(*word));
    bytes.as_chunks::<8>().0.iter().fold(escapes(last), |found, word| found | escapes(word)) != 0
}

/// Not zero exactly if a byte of the word has to be escaped: is too low, a quotation mark or a backslash.
fn escapes_in(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGH_BITS: u64 = u64::from_ne_bytes([0x80; 8]);
    // The lowest byte that is below `limit` borrows from its own high bit; bytes beyond ASCII have theirs already.
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGH_BITS;
    let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    below(word, 0x20) | equal(b'"') | equal(b'\\')
}

/// Writes a value.
pub(crate) fn write<T: Serialize + ?Sized>(json: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(json, value).expect("texts and numbers always serialise, and a Vec takes all");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_written_as_the_library_writes_it() {
        for escaped in ["\"", "\\", "\0", "\u{1f}", " ", "\u{7f}", "é"] {
            for (first, second) in (0..24).flat_map(|first| (first..24).map(move |second| (first, second))) {
                let (before, between) = ("x".repeat(first), "x".repeat(second - first));
                let text = format!("{before}{escaped}{between}{escaped}");
                let mut json = Vec::new();
                write_text(&mut json, &text);
                assert_eq!(json, serde_json::to_vec(&text).unwrap(), "{text:?}");
            }
        }
    }
}

//! [`ListBody`]: the items of a page as JSON, written while the storage reads them.

use bytes::Bytes;
use serde::Serialize;

use crate::cursor::Cursor;
use crate::envelope::PaginationMeta;
use crate::model::CourseRow;

/// How many bytes an item usually takes up.
const USUAL_ITEM: usize = 224;

/// The body of a page without its end: an envelope whose `data` is still open.
///
/// It holds what serialising a [`SuccessPage`](crate::envelope::SuccessPage) would give, and spares the texts between the
/// storage and the body.
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

    /// Adds the next course of the page.
    pub(crate) fn push(&mut self, row: CourseRow<'_>) {
        let json = &mut self.json;
        json.extend_from_slice(if self.items == 0 { br#"{"slug":"# } else { br#",{"slug":"# });
        write_text(json, row.slug);
        json.extend_from_slice(br#","title":"#);
        write_text(json, row.title);
        json.extend_from_slice(br#","language":"#);
        write_text(json, row.language);
        json.extend_from_slice(br#","publishedAt":"#);
        match row.published_at {
            Some(time) => time.write_json(json),
            None => json.extend_from_slice(b"null"),
        }
        json.extend_from_slice(if row.hidden {
            br#","hidden":true,"moduleCount":"#
        } else {
            br#","hidden":false,"moduleCount":"#
        });
        write(json, &row.module_count);
        json.push(b'}');
        self.items += 1;
    }

    /// How many courses it has.
    pub(crate) fn items(&self) -> usize {
        self.items
    }

    /// The whole body, which says where the next page starts.
    pub(crate) fn finish(&self, next: Option<&Cursor>) -> Bytes {
        let meta = PaginationMeta { next_cursor: next.map(Cursor::as_str) };
        let mut end = b"],\"meta\":".to_vec();
        write(&mut end, &meta);
        end.push(b'}');
        [&*self.json, &*end].concat().into()
    }
}

/// Most texts stand in JSON as they are; the others are for the library.
fn write_text(json: &mut Vec<u8>, text: &str) {
    if has_escapes(text.as_bytes()) {
        return write(json, text);
    }
    json.push(b'"');
    json.extend_from_slice(text.as_bytes());
    json.push(b'"');
}

/// Whether JSON would have to escape one of the bytes (RFC 8259 section 7). Eight are looked at at once.
fn has_escapes(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks::<8>();
    let in_words = words.iter().fold(0, |found, word| found | escapes_in(u64::from_ne_bytes(*word)));
    in_words != 0 || rest.iter().any(|byte| matches!(byte, 0..0x20 | b'"' | b'\\'))
}

/// Not zero exactly if one of the word's bytes has to be escaped: a byte of it is too low or, without the bits of a
/// quotation mark or of a backslash, zero.
fn escapes_in(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGH_BITS: u64 = u64::from_ne_bytes([0x80; 8]);
    // The lowest byte that is below `limit` borrows from its own high bit; bytes beyond ASCII have theirs already.
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGH_BITS;
    let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    below(word, 0x20) | equal(b'"') | equal(b'\\')
}

fn write<T: Serialize + ?Sized>(json: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(json, value).expect("texts and numbers always serialise, and a Vec takes all");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::envelope::SuccessPage;
    use crate::model::{AccountId, CourseListItem};
    use crate::paging::Position;
    use crate::timestamp::Timestamp;

    prop_compose! {
        fn items()(slug in ".*", title in "[ -~\\x00-\\x1f\"\\\\é🤗]*", language in ".{0,40}",
            micros in prop::option::of(Timestamp::MIN.as_microseconds()..=Timestamp::MAX.as_microseconds()),
            hidden in any::<bool>(), module_count in any::<u32>()) -> CourseListItem
        {
            let published_at = micros.and_then(Timestamp::from_microseconds);
            CourseListItem { slug, title, language, published_at, hidden, module_count }
        }
    }

    proptest! {
        #[test]
        fn it_is_what_serialising_the_page_gives(items in prop::collection::vec(items(), 0..4), has_next in any::<bool>()) {
            let position = Position { created_at: Timestamp::MIN, slug: "slug".to_owned() };
            let next = has_next.then(|| Cursor::encode(&AccountId::new("acc"), &position).unwrap());
            let mut body = ListBody::with_capacity(items.len());
            items.iter().for_each(|item| body.push(item.row()));
            let meta = PaginationMeta { next_cursor: next.as_ref().map(Cursor::as_str) };
            let page = serde_json::to_vec(&SuccessPage { data: &items, meta }).unwrap();
            prop_assert_eq!(&*body.finish(next.as_ref()), &*page);
            prop_assert_eq!(body.items(), items.len());
        }
    }
}

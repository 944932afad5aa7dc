//! U+0000, which PostgreSQL's texts cannot hold: how a text with it is stored, and what is compared with one.
//!
//! In what is shown it is stored as U+FFFE and a zero digit, and U+FFFE, which is no character, as itself twice. Ids and
//! slugs, which are looked up and ordered by, are stored as they are, so one with U+0000 is not there.

use std::borrow::Cow;

use catalogue_core::storage::{StorageError, StorageErrorKind};

const ESCAPE: char = '\u{fffe}';
const ZERO: char = '0';

/// A text that is shown, as it is stored.
pub(crate) fn stored(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    text.replace(ESCAPE, "\u{fffe}\u{fffe}").replace('\0', "\u{fffe}0").into()
}

/// The text that is shown for what is stored. A host's own writers may have stored U+FFFE alone; it stays.
pub(crate) fn shown(stored: &str) -> Cow<'_, str> {
    if !stored.contains(ESCAPE) {
        return Cow::Borrowed(stored);
    }
    let mut shown = String::with_capacity(stored.len());
    let mut rest = stored;
    while let Some((before, after)) = rest.split_once(ESCAPE) {
        shown.push_str(before);
        let escaped = after.chars().next().filter(|c| [ZERO, ESCAPE].contains(c));
        shown.push(if escaped == Some(ZERO) { '\0' } else { ESCAPE });
        rest = &after[escaped.map_or(0, char::len_utf8)..];
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

/// Whether a stored id or slug can be this one.
pub(crate) fn can_be_stored(text: &str) -> bool {
    !text.contains('\0')
}

/// `ids`, if stored ones can be these.
pub(crate) fn storable<const N: usize>(ids: [&str; N]) -> Option<[&str; N]> {
    ids.into_iter().all(can_be_stored).then_some(ids)
}

/// Refuses to write any of `ids` that cannot be stored.
pub(crate) fn check_storable<'t>(ids: impl IntoIterator<Item = &'t str>) -> Result<(), StorageError> {
    if ids.into_iter().all(can_be_stored) {
        return Ok(());
    }
    let message = "an id has the character U+0000, which PostgreSQL cannot hold";
    Err(StorageError::new(StorageErrorKind::InvalidValue, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_shown_as_it_was() {
        // All texts of up to five of these.
        let letters = ["\0", "\u{fffe}", "0", "a", "\u{ffff}"];
        let mut texts = vec![String::new()];
        for _ in 0..5 {
            let longer = texts.iter().flat_map(|text| letters.map(|letter| format!("{text}{letter}")));
            texts = texts.iter().cloned().chain(longer).collect();
            texts.sort();
            texts.dedup();
        }
        for text in texts {
            let stored = stored(&text);
            assert!(!stored.contains('\0'), "{text:?}");
            assert_eq!(shown(&stored), text, "{stored:?}");
        }
    }

    #[test]
    fn what_is_usual_is_neither_changed_nor_copied() {
        for text in ["", "a title", "\u{1}\u{1f917}0"] {
            assert!(matches!(stored(text), Cow::Borrowed(same) if same == text));
            assert!(matches!(shown(text), Cow::Borrowed(same) if same == text));
        }
        assert_eq!(shown("a\u{fffe}b\u{fffe}"), "a\u{fffe}b\u{fffe}");
    }
}

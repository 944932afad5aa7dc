//! U+0000, which PostgreSQL text cannot contain: how texts with it are stored, and which are refused.
//!
//! Displayed texts store it as U+FFFE and a zero digit, and the noncharacter U+FFFE as two U+FFFE. Ids and slugs are stored
//! unchanged, because they are looked up and sorted. So no stored id or slug contains U+0000.

use std::borrow::Cow;

use catalogue_core::storage::{StorageError, StorageErrorKind};

const ESCAPE: char = '\u{fffe}';
const ZERO: char = '0';

/// Returns the stored form of a displayed text.
pub(crate) fn stored(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    text.replace(ESCAPE, "\u{fffe}\u{fffe}").replace('\0', "\u{fffe}0").into()
}

/// Returns the displayed form of a stored text. A single U+FFFE, which other writers may have stored, is unchanged.
pub(crate) fn displayed(stored: &str) -> Cow<'_, str> {
    if !stored.contains(ESCAPE) {
        return Cow::Borrowed(stored);
    }
    let mut displayed = String::with_capacity(stored.len());
    let mut rest = stored;
    while let Some((before, after)) = rest.split_once(ESCAPE) {
        displayed.push_str(before);
        let escaped = after.chars().next().filter(|c| [ZERO, ESCAPE].contains(c));
        displayed.push(if escaped == Some(ZERO) { '\0' } else { ESCAPE });
        rest = &after[escaped.map_or(0, char::len_utf8)..];
    }
    displayed.push_str(rest);
    Cow::Owned(displayed)
}

/// Returns `true` if `text` can be a stored id or slug.
pub(crate) fn can_be_stored(text: &str) -> bool {
    !text.contains('\0')
}

/// Returns `ids` if all of them can be stored.
pub(crate) fn storable<const N: usize>(ids: [&str; N]) -> Option<[&str; N]> {
    ids.into_iter().all(can_be_stored).then_some(ids)
}

/// Returns an error if one of `ids` cannot be stored.
pub(crate) fn check_storable<'t>(ids: impl IntoIterator<Item = &'t str>) -> Result<(), StorageError> {
    if ids.into_iter().all(can_be_stored) {
        return Ok(());
    }
    Err(StorageError::new(StorageErrorKind::InvalidValue, "an id contains U+0000, which PostgreSQL cannot store"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_round_trips() {
        // Cover all texts of up to five of these characters.
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
            assert_eq!(displayed(&stored), text, "{stored:?}");
        }
    }

    #[test]
    fn texts_without_escapes_are_unchanged() {
        for text in ["", "a title", "\u{1}\u{1f917}0"] {
            assert!(matches!(stored(text), Cow::Borrowed(same) if same == text));
            assert!(matches!(displayed(text), Cow::Borrowed(same) if same == text));
        }
        assert_eq!(displayed("a\u{fffe}b\u{fffe}"), "a\u{fffe}b\u{fffe}");
    }
}

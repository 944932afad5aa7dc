//! U+0000, which PostgreSQL's texts cannot hold: what is compared with such a text, and what would store one.

use std::borrow::Cow;

use catalogue_core::{StorageError, StorageErrorKind};

/// Whether a stored text can be this one.
pub(crate) fn can_be_stored(text: &str) -> bool {
    !text.contains('\0')
}

/// Refuses to write any of `texts` that cannot be stored.
pub(crate) fn check_storable<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<(), StorageError> {
    if texts.into_iter().all(can_be_stored) {
        return Ok(());
    }
    let message = "a text has the character U+0000, which PostgreSQL cannot hold";
    Err(StorageError::new(StorageErrorKind::InvalidValue, message))
}

/// A text with the same stored texts before it, by bytes, as `text` has.
///
/// What comes before `a\0…` is `a` and what comes before it; of texts without U+0000, that is all before `a\u{1}`.
pub(crate) fn bound(text: &str) -> Cow<'_, str> {
    match text.split_once('\0') {
        None => Cow::Borrowed(text),
        Some((start, _)) => Cow::Owned(format!("{start}\u{1}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_has_the_same_texts_before_it() {
        let stored = ["a", "a\u{1}", "a\u{1}b", "a ", "ab", "", "b", "\u{1}"];
        for text in ["a\0b", "\0", "a\0", "ab", "a", "a\u{1}\0"] {
            for stored in stored {
                assert_eq!(stored < text, stored < &*bound(text), "{stored:?} {text:?}");
            }
        }
    }
}

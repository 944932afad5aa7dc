//! [`Cursor`]: a position in a list as opaque text, used only at the edge of the API (decision R8).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::model::{AccountId, MAX_SLUG_BYTES, is_slug};
use crate::storage::Position;
use crate::timestamp::Timestamp;

/// First byte of a cursor, different for each layout.
const LAYOUT_VERSION: u8 = 1;
const TIME_BYTES: usize = 8;
const SEAL_BYTES: usize = 16;
/// Maximum length of a cursor in characters.
pub(crate) const MAX_CURSOR_LENGTH: usize = 512;
/// Pattern that cursors match, for the documents.
pub(crate) const CURSOR_PATTERN: &str = "^[A-Za-z0-9_-]+$";

const _: () =
    assert!(1 + TIME_BYTES + MAX_SLUG_BYTES + SEAL_BYTES <= MAX_CURSOR_LENGTH / 4 * 3, "the longest slug fits");

/// A position as text of `A–Z a–z 0–9 - _`: layout, position, and a seal over them and the account.
///
/// It holds no secret and grants nothing: the seal detects altered cursors and those of other accounts, while the
/// credential decides who may read. The text depends only on the account and the position, so every server creates the
/// same text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cursor(String);

impl Cursor {
    /// Encodes `position` in the list of `account`. Returns `None` if its slug is invalid: no course has that position.
    pub(crate) fn encode(account: &AccountId, position: &Position) -> Option<Self> {
        let mut bytes = Vec::with_capacity(64);
        bytes.push(LAYOUT_VERSION);
        bytes.extend_from_slice(&position.created_at.as_microseconds().to_be_bytes());
        bytes.extend_from_slice(position.slug.as_bytes());
        bytes.extend_from_slice(&seal(account, &bytes));
        is_slug(&position.slug).then(|| Self(URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// Decodes a cursor for the list of `account`. Returns `None` if `text` is not a result of [`encode`](Self::encode)
    /// for this account. Anyone can compute a seal, so the content is checked like any other input.
    pub(crate) fn decode(account: &AccountId, text: &str) -> Option<Position> {
        if text.len() > MAX_CURSOR_LENGTH {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (sealed, actual) = bytes.split_last_chunk::<SEAL_BYTES>()?;
        if *actual != seal(account, sealed) {
            return None;
        }
        let (time, slug) = sealed.strip_prefix(&[LAYOUT_VERSION])?.split_first_chunk::<TIME_BYTES>()?;
        let slug = std::str::from_utf8(slug).ok().filter(|slug| is_slug(slug))?;
        Some(Position { created_at: Timestamp::from_microseconds(i64::from_be_bytes(*time))?, slug: slug.to_owned() })
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns 128 bits of SHA-256 over a fixed prefix, the account's length as a boundary, the account, and the content.
fn seal(account: &AccountId, content: &[u8]) -> [u8; SEAL_BYTES] {
    let account = account.as_str().as_bytes();
    let digest = Sha256::new()
        .chain_update(b"catalogue cursor\0")
        .chain_update((account.len() as u64).to_be_bytes())
        .chain_update(account)
        .chain_update(content)
        .finalize();
    *digest.first_chunk().expect("SHA-256 has 32 bytes")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn account(id: &str) -> AccountId {
        AccountId::new(id)
    }

    prop_compose! {
        fn positions()(micros in Timestamp::MIN.as_microseconds()..=Timestamp::MAX.as_microseconds(),
                       slug in "[^\\pC/]{1,40}") -> Position {
            Position { created_at: Timestamp::from_microseconds(micros).unwrap(), slug }
        }
    }

    proptest! {
        #[test]
        fn decode_inverts_encode(id in ".*", position in positions()) {
            let cursor = Cursor::encode(&account(&id), &position).unwrap();
            prop_assert_eq!(Cursor::decode(&account(&id), cursor.as_str()), Some(position));
        }

        #[test]
        fn cursor_text_is_short_and_url_safe(id in ".*", position in positions()) {
            let cursor = Cursor::encode(&account(&id), &position).unwrap();
            prop_assert!(cursor.as_str().len() <= 512);
            prop_assert!(cursor.as_str().bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'));
        }

        #[test]
        fn cursor_of_another_account_is_refused(id in ".*", other in ".*", position in positions()) {
            prop_assume!(id != other);
            let cursor = Cursor::encode(&account(&id), &position).unwrap();
            prop_assert_eq!(Cursor::decode(&account(&other), cursor.as_str()), None);
        }

        #[test]
        fn changed_character_is_detected(position in positions(), at in any::<prop::sample::Index>(), to in "[A-Za-z0-9_-]") {
            let id = account("acc");
            let cursor = Cursor::encode(&id, &position).unwrap();
            let at = at.index(cursor.as_str().len());
            let mut altered = cursor.as_str().to_owned();
            altered.replace_range(at..=at, &to);
            prop_assume!(altered != cursor.as_str());
            prop_assert_eq!(Cursor::decode(&id, &altered), None);
        }

        #[test]
        fn arbitrary_text_is_refused(text in ".*") {
            prop_assert_eq!(Cursor::decode(&account("acc"), &text), None);
        }
    }

    #[test]
    fn sealed_cursor_with_invalid_slug_or_unknown_layout_is_refused() {
        let (id, long) = (account("a"), "x".repeat(MAX_SLUG_BYTES + 1));
        let invalid = ["", "a/b", "\0", &long].map(|slug| (LAYOUT_VERSION, slug));
        for (layout, slug) in [(LAYOUT_VERSION, "slug"), (LAYOUT_VERSION + 1, "slug")].into_iter().chain(invalid) {
            let position = Position { created_at: Timestamp::MIN, slug: slug.to_owned() };
            assert_eq!(Cursor::encode(&id, &position).is_some(), slug == "slug", "{slug:?}");
            let mut bytes = vec![layout];
            bytes.extend_from_slice(&position.created_at.as_microseconds().to_be_bytes());
            bytes.extend_from_slice(slug.as_bytes());
            bytes.extend_from_slice(&seal(&id, &bytes));
            let decoded = Cursor::decode(&id, &URL_SAFE_NO_PAD.encode(bytes));
            assert_eq!(decoded, Some(position).filter(|_| (layout, slug) == (LAYOUT_VERSION, "slug")), "{slug:?}");
        }
    }

    /// Cursors outlive deployments: these bytes must never change.
    #[test]
    fn cursor_layout_is_stable() {
        let position =
            Position { created_at: Timestamp::parse("2026-01-02T03:04:05Z").unwrap(), slug: "foundations".into() };
        let cursor = Cursor::encode(&account("acc_odin"), &position).unwrap();
        assert_eq!(cursor.as_str(), "AQAGR172TPNAZm91bmRhdGlvbnPUEzv-GQgAHG_GgCRBJq-2");
    }
}

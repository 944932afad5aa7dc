//! [`NewToken`]: a generated secret in the format of decision C1; [`TokenDigest`]: the digest by which storages find it.

use std::{array, fmt};

use sha2::{Digest, Sha256};

use super::CredentialKind;

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_DIGITS: usize = 43;
const CHECKSUM_DIGITS: usize = 6;
/// Length of a token in characters; all prefixes have the same length.
const TOKEN_LENGTH: usize = CredentialKind::ApiKey.token_prefix().len() + RANDOM_DIGITS + CHECKSUM_DIGITS;
/// Number of a token's characters that are kept for display (decision C2).
const SHOWN_PREFIX_LENGTH: usize = 8;

/// A newly generated secret: a prefix, 43 base62 digits of 256 random bits, and 6 base62 digits of the CRC-32 of
/// everything before them.
///
/// Scanners find a leaked secret by its format, and a mistyped API key is refused without a call to the storage. `Debug`
/// hides the secret; [`expose`](Self::expose) it once, to its owner, and store its [`digest`](Self::digest).
///
/// ```
/// use catalogue_core::auth::{CredentialKind, NewToken, token_kind};
///
/// let key = NewToken::mint(CredentialKind::ApiKey);
/// assert!(key.expose().starts_with("ccat_"));
/// assert_eq!(token_kind(key.expose()), Some(CredentialKind::ApiKey));
/// assert_eq!(token_kind("ccat_mistyped"), None);
/// ```
#[derive(Clone)]
pub struct NewToken(String);

impl NewToken {
    /// Generates a token of `kind` from 256 bits of the system's randomness.
    ///
    /// # Panics
    /// Panics if the system cannot provide randomness.
    #[must_use]
    pub fn mint(kind: CredentialKind) -> Self {
        let random: [u32; 8] = array::from_fn(|_| getrandom::u32().expect("the system's randomness"));
        let mut token = kind.token_prefix().to_owned();
        token.extend(base62::<RANDOM_DIGITS>(random).map(char::from));
        token.extend(checksum_of(&token).map(char::from));
        Self(token)
    }

    /// Returns the secret.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the digest, which a storage keeps in place of the token.
    #[must_use]
    pub fn digest(&self) -> TokenDigest {
        TokenDigest::of(&self.0)
    }

    /// Returns the first 8 characters, for lists that distinguish tokens by them.
    #[must_use]
    pub fn shown_prefix(&self) -> &str {
        &self.0[..SHOWN_PREFIX_LENGTH]
    }
}

impl fmt::Debug for NewToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NewToken(..)")
    }
}

/// SHA-256 of a whole token. A storage keeps only the digest and the token's first 8 characters (decision C2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenDigest([u8; 32]);

impl TokenDigest {
    /// Creates a digest from stored bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the digest's bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub(crate) fn of(text: &str) -> Self {
        Self(Sha256::digest(text).into())
    }

    /// Returns an id made from the digest: `prefix`, a colon and its first 32 hexadecimal digits. Ids of OAuth tokens
    /// begin with `oauth` (decision A10).
    pub(crate) fn id(&self, prefix: &str) -> String {
        let half = *self.0.first_chunk().expect("SHA-256 has 32 bytes");
        format!("{prefix}:{:032x}", u128::from_be_bytes(half))
    }
}

/// Hides the digest from logs: the token cannot be recovered from it, but storages look credentials up by it.
impl fmt::Debug for TokenDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenDigest(..)")
    }
}

/// Returns the kind of [`NewToken`] whose format `text` has, including its checksum; `None` for any other text. It does
/// not check whether the token exists.
#[must_use]
pub fn token_kind(text: &str) -> Option<CredentialKind> {
    CredentialKind::ALL.iter().copied().find(|kind| is_well_formed(text, *kind))
}

fn is_well_formed(text: &str, kind: CredentialKind) -> bool {
    let prefix = kind.token_prefix();
    if text.len() != TOKEN_LENGTH || !text.starts_with(prefix) || !text.is_ascii() {
        return false;
    }
    let (content, checksum) = text.split_at(TOKEN_LENGTH - CHECKSUM_DIGITS);
    content[prefix.len()..].bytes().fold(true, |all, b| all & b.is_ascii_alphanumeric())
        && checksum.as_bytes() == checksum_of(content)
}

/// Returns whether `text` is an API key or was meant to be one: whether it has the prefix.
pub(crate) fn has_api_key_prefix(text: &str) -> bool {
    text.starts_with(CredentialKind::ApiKey.token_prefix())
}

fn checksum_of(content: &str) -> [u8; CHECKSUM_DIGITS] {
    base62([crc32fast::hash(content.as_bytes())])
}

/// Converts a number, most significant word first, to `DIGITS` base62 digits, most significant first, padded with `0`.
fn base62<const DIGITS: usize>(mut number: impl AsMut<[u32]>) -> [u8; DIGITS] {
    let number = number.as_mut();
    let mut digits = [b'0'; DIGITS];
    for digit in digits.iter_mut().rev() {
        // Long division by 62, word by word; the remainder is the next digit.
        let mut remainder = 0_u64;
        for word in number.iter_mut() {
            let part = remainder << 32 | u64::from(*word);
            *word = (part / 62) as u32;
            remainder = part % 62;
        }
        *digit = ALPHABET[remainder as usize];
    }
    debug_assert!(number.iter().all(|&word| word == 0), "the number has more digits");
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_api_key(text: &str) -> bool {
        token_kind(text) == Some(CredentialKind::ApiKey)
    }

    #[test]
    fn base62_is_most_significant_first_and_padded() {
        assert_eq!(&base62::<6>([0]), b"000000");
        assert_eq!(&base62::<6>([61]), b"00000z");
        assert_eq!(&base62::<6>([62]), b"000010");
        assert_eq!(&base62::<6>([u32::MAX]), b"4gfFC3");
        assert_eq!(&base62::<7>([1, 0]), b"04gfFC4");
        assert_eq!(base62::<43>([u32::MAX; 8]).len(), 43);
    }

    #[test]
    fn minted_keys_are_well_formed_and_differ() {
        let (one, two) = (NewToken::mint(CredentialKind::ApiKey), NewToken::mint(CredentialKind::ApiKey));
        assert!(is_api_key(one.expose()) && is_api_key(two.expose()));
        assert_eq!(one.expose().len(), 54);
        assert_ne!(one.expose(), two.expose());
        assert_eq!(one.shown_prefix().len(), 8);
        assert_eq!(format!("{one:?}"), "NewToken(..)");
    }

    /// CRC-32 (ISO-HDLC) of `ccat_` and 43 zeros, computed independently of this code.
    #[test]
    fn checksum_matches_independent_crc_32() {
        let content = format!("ccat_{}", "0".repeat(43));
        assert!(is_api_key(&format!("{content}{}", "08gEjZ")));
        let dashes = format!("ccat_{}", "-".repeat(43));
        let checksum = checksum_of(&dashes);
        assert!(!is_api_key(&format!("{dashes}{}", str::from_utf8(&checksum).unwrap())));
    }

    #[test]
    fn token_kind_requires_full_format() {
        for kind in CredentialKind::ALL {
            let token = NewToken::mint(*kind);
            assert_eq!(token_kind(token.expose()), Some(*kind));
            for at in 0..TOKEN_LENGTH {
                let mut typo = token.expose().to_owned();
                let other = if typo.as_bytes()[at] == b'a' { "b" } else { "a" };
                typo.replace_range(at..=at, other);
                assert_eq!(token_kind(&typo), None, "position {at}");
            }
            let [first_cut, last_cut] = [&token.expose()[1..], &token.expose()[..TOKEN_LENGTH - 1]];
            for wrong in [first_cut, last_cut, &format!("{}0", token.expose()), &format!("{} ", token.expose())] {
                assert_eq!(token_kind(wrong), None, "{wrong}");
            }
        }
        let oauth = NewToken::mint(CredentialKind::OAuth);
        assert_eq!(token_kind(&oauth.expose().replacen("cato_", "ccat_", 1)), None);
        assert_eq!(token_kind("Ab1.another-servers~token"), None);
    }

    #[test]
    fn oauth_token_id_is_half_its_digest() {
        assert_eq!(TokenDigest::of("abc").id("oauth"), "oauth:ba7816bf8f01cfea414140de5dae2223");
    }
}

//! [`BearerToken`]: the secret that a request carries (RFC 6750 section 2.1).

use std::fmt;

use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::authenticator::Refusal;
use crate::model::TokenDigest;

/// The scheme (RFC 9110 section 11.1), with the space that ends it.
const SCHEME: &[u8] = b"Bearer ";

/// The bearer token of a request. Its `Debug` output is redacted.
#[derive(Clone, Copy)]
pub struct BearerToken<'r> {
    text: &'r str,
    /// Set by `digest_cached`.
    digest: Option<TokenDigest>,
}

impl<'r> BearerToken<'r> {
    /// Creates a token. Returns `None` if `text` is not a `b64token` of RFC 6750.
    #[must_use]
    pub fn new(text: &'r str) -> Option<Self> {
        let token = text.trim_end_matches('=');
        // No early exit: a branch-free loop is vectorized.
        let is_allowed = token.bytes().fold(true, |allowed, byte| allowed & is_token_byte(byte));
        (!token.is_empty() && is_allowed).then_some(Self { text, digest: None })
    }

    /// Returns the token of a request with these headers (decision A3). Never reads a token in the query.
    pub(crate) fn from_headers(headers: &'r HeaderMap) -> Result<Self, Refusal> {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            return Err(Refusal::Missing);
        };
        let Some((scheme, rest)) = value.as_bytes().split_at_checked(SCHEME.len()) else {
            return Err(Refusal::Missing);
        };
        let spaces = rest.iter().take_while(|&&b| b == b' ').count();
        let token = &rest[spaces..];
        // A scheme without a token counts as a missing token.
        if !scheme.eq_ignore_ascii_case(SCHEME) || token.is_empty() {
            return Err(Refusal::Missing);
        }
        std::str::from_utf8(token).ok().and_then(Self::new).ok_or(Refusal::Invalid)
    }

    /// Returns the secret itself, for an authenticator that must pass it on. Never log it.
    #[must_use]
    pub fn expose(&self) -> &'r str {
        self.text
    }

    /// Returns the SHA-256 of the token.
    #[must_use]
    pub fn digest(&self) -> TokenDigest {
        self.digest.unwrap_or_else(|| TokenDigest::of(self.text))
    }

    /// Like [`digest`](Self::digest), but caches the digest in this token.
    pub(crate) fn digest_cached(&mut self) -> TokenDigest {
        *self.digest.insert(self.digest())
    }
}

/// Returns whether `byte` is allowed in a `b64token` before its padding.
#[inline]
fn is_token_byte(byte: u8) -> bool {
    let in_range = |first: u8, last: u8| byte.wrapping_sub(first) <= last - first;
    // The first range is `-`, `.`, `/` and the digits.
    in_range(b'-', b'9')
        | in_range(b'A', b'Z')
        | in_range(b'a', b'z')
        | (byte == b'+')
        | (byte == b'_')
        | (byte == b'~')
}

impl fmt::Debug for BearerToken<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BearerToken(..)")
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn token_has_only_b64token_characters() {
        assert!(BearerToken::new("aZ9-._~+/==").is_some());
        for text in ["", "=", "a=b", "a b", "a,b", "a:b", "a@b", "a[b", "a`b", "a{b", "é"] {
            assert!(BearerToken::new(text).is_none(), "{text}");
        }
        let header = HeaderValue::from_bytes(b"Bearer \xff").unwrap();
        let token = BearerToken::from_headers(&HeaderMap::from_iter([(AUTHORIZATION, header)])).map(|_| ());
        assert_eq!(token, Err(Refusal::Invalid));
    }

    #[test]
    fn debug_output_is_redacted() {
        let token = BearerToken::new("secret").unwrap();
        assert_eq!(format!("{token:?} {:?}", token.digest()), "BearerToken(..) TokenDigest(..)");
    }
}

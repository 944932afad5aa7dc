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

    fn token_of(values: &[&[u8]]) -> Result<String, Refusal> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_bytes(value).unwrap());
        }
        BearerToken::from_headers(&headers).map(|token| token.expose().to_owned())
    }

    #[test]
    fn scheme_is_case_insensitive() {
        for value in ["Bearer abc", "bearer abc", "BEARER abc", "bEaReR   abc"] {
            assert_eq!(token_of(&[value.as_bytes()]).as_deref(), Ok("abc"));
        }
    }

    #[test]
    fn absent_or_repeated_header_or_other_scheme_counts_as_missing() {
        assert_eq!(token_of(&[]), Err(Refusal::Missing));
        for value in ["Basic abc", "Bearerabc", "", "Bearer\tabc", "Bearer", "Bearer  "] {
            assert_eq!(token_of(&[value.as_bytes()]), Err(Refusal::Missing), "{value}");
        }
        assert_eq!(token_of(&[b"Bearer abc", b"Bearer abc"]), Err(Refusal::Missing));
    }

    #[test]
    fn malformed_token_is_invalid() {
        for value in [&b"Bearer a b"[..], b"Bearer a,b", b"Bearer =", b"Bearer a=b", b"Bearer \xff", b"Bearer \xc3\xa9"]
        {
            assert_eq!(token_of(&[value]), Err(Refusal::Invalid));
        }
        assert_eq!(token_of(&[b"Bearer aZ9-._~+/=="]).as_deref(), Ok("aZ9-._~+/=="));
    }

    #[test]
    fn debug_output_is_redacted() {
        let token = BearerToken::new("secret").unwrap();
        assert_eq!(format!("{token:?} {:?}", token.digest()), "BearerToken(..) TokenDigest(..)");
    }
}

//! [`SignedToken`]: parses a signed token (RFC 7515 section 7.1) and its header.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::TokenType;
use super::algorithm::SignatureAlgorithm;
use super::json_object::{JsonObject, Malformed};
use super::key_set::{KeyId, KeySet};
use super::outcome::Outcome;

/// Maximum length of a token that is read, in bytes (decision O7).
pub(in crate::auth) const MAX_BYTES: usize = 8192;
/// Maximum length of a `kid`, in bytes (decision O13).
const MAX_KID_BYTES: usize = 256;

/// Returns whether `text` may be a signed token: three parts in the characters of base64url. Decodes nothing.
pub(crate) fn looks_like_jwt(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    // No early exit, as in `BearerToken::new`.
    parts(text, 4) == 3 && text.bytes().fold(true, |all, byte| all & allowed(byte))
}

/// Returns whether `text` has three parts or more, and so may be meant as a signed token.
pub(super) fn has_jwt_parts(text: &str) -> bool {
    parts(text, 3) == 3
}

/// Counts the parts between dots, up to `limit`, so that a text with many dots costs little.
fn parts(text: &str, limit: usize) -> usize {
    text.splitn(limit, '.').count()
}

/// A parsed signed token. Nothing of it is trusted before its signature is verified.
#[derive(Debug)]
pub(super) struct SignedToken<'t> {
    /// Bytes that the signature covers.
    pub(super) signed: &'t [u8],
    pub(super) signature: Vec<u8>,
    pub(super) header: JsonObject,
    pub(super) payload: JsonObject,
}

/// Fields of a header that are read. Keys and URLs of keys in it are ignored (decision O12).
#[derive(Debug)]
pub(super) struct Header {
    pub(super) algorithm: SignatureAlgorithm,
    pub(super) kid: Option<String>,
    /// Whether the header declares an access token.
    pub(super) is_access_token: bool,
}

impl<'t> SignedToken<'t> {
    /// Parses a signed token; returns `None` if `text` does not have the form of one (decisions O6, O8 and O9).
    pub(super) fn parse(text: &'t str) -> Option<Self> {
        let (signed, signature) = text.rsplit_once('.')?;
        let (header, payload) = signed.split_once('.')?;
        let object = |part| JsonObject::parse(&decode(part)?);
        let (header, payload) = (object(header)?, object(payload)?);
        Some(Self { signed: signed.as_bytes(), signature: decode(signature)?, header, payload })
    }

    /// Returns whether `iss` occurs once in the token and is `issuer`.
    pub(super) fn is_issued_by(&self, issuer: &str) -> bool {
        self.payload.text("iss").is_ok_and(|iss| iss.as_deref() == Some(issuer))
    }

    /// Returns the header if it has no `crit`, a type that `token_type` allows, one of `algorithms`, and no overlong `kid`.
    pub(super) fn header(&self, token_type: TokenType, algorithms: &[SignatureAlgorithm]) -> Result<Header, Outcome> {
        let text = |name| self.header.text(name).map_err(|Malformed| Outcome::Header);
        let (typ, alg, kid) = (text("typ")?, text("alg")?, text("kid")?);
        if self.header.has("crit") {
            return Err(Outcome::Crit);
        }
        let is_access_token = typ.as_deref().is_some_and(is_access_token);
        if token_type == TokenType::AccessToken && !is_access_token {
            return Err(Outcome::Typ);
        }
        let algorithm =
            alg.as_deref().and_then(SignatureAlgorithm::from_name).filter(|known| algorithms.contains(known));
        let algorithm = algorithm.ok_or(Outcome::Alg)?;
        if kid.as_ref().is_some_and(|kid| kid.len() > MAX_KID_BYTES) {
            return Err(Outcome::Key);
        }
        Ok(Header { algorithm, kid, is_access_token })
    }

    /// Returns the id of the key in `keys` that verifies the signature.
    pub(super) fn verify(&self, header: &Header, keys: &KeySet) -> Result<KeyId, Outcome> {
        let mut candidates = keys.candidates(header.kid.as_deref(), header.algorithm).peekable();
        candidates.peek().ok_or(Outcome::Key)?;
        let key = candidates.find(|key| key.verifies(self.signed, &self.signature)).ok_or(Outcome::Signature)?;
        Ok(key.id)
    }
}

/// Returns whether `typ` is the media type of RFC 9068, with or without `application/`.
fn is_access_token(typ: &str) -> bool {
    ["at+jwt", "application/at+jwt"].iter().any(|known| typ.eq_ignore_ascii_case(known))
}

/// Decodes base64url. Refuses padding, other characters and nonzero unused bits, so a token has one text and one digest.
pub(super) fn decode(part: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(part).ok()
}

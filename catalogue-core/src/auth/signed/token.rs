//! [`SignedToken`]: the form of a signed token (RFC 7515 section 7.1), and what its header says.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::TokenType;
use super::algorithm::SignatureAlgorithm;
use super::key_set::{KeyId, KeySet};
use super::members::{Faulty, Members};
use super::outcome::Outcome;

/// The longest token that is looked at, in bytes (decision O7).
pub(in crate::auth) const MAX_BYTES: usize = 8192;
/// The longest name of a key, in bytes (decision O13).
const MAX_KID: usize = 256;

/// Whether `text` may be a signed token: three parts in the characters of base64url. Nothing is decoded.
pub(crate) fn has_form(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    // To the end in any case, as `BearerToken::new` does.
    parts(text, 4) == 3 && text.bytes().fold(true, |all, byte| all & allowed(byte))
}

/// Whether `text` is none and looks as if it were meant to be one.
pub(super) fn nearly_has_form(text: &str) -> bool {
    parts(text, 3) == 3
}

/// How many parts there are between dots, counted up to `most`: what is no signed token costs next to nothing.
fn parts(text: &str, most: usize) -> usize {
    text.splitn(most, '.').count()
}

/// A signed token, taken apart. Nothing of it is believed before its signature is verified.
#[derive(Debug)]
pub(super) struct SignedToken<'t> {
    /// What the signature is over.
    pub(super) signed: &'t [u8],
    pub(super) signature: Vec<u8>,
    pub(super) header: Members,
    pub(super) payload: Members,
}

/// What a header says, as far as it is read. Keys and addresses of keys in it are not (decision O12).
#[derive(Debug)]
pub(super) struct Header {
    pub(super) algorithm: SignatureAlgorithm,
    pub(super) kid: Option<String>,
    /// Whether it calls the token an access token.
    pub(super) is_access_token: bool,
}

impl<'t> SignedToken<'t> {
    /// The token that `text` is, or `None` where it is not of the form (decisions O6 and O8).
    pub(super) fn parse(text: &'t str) -> Option<Self> {
        let (signed, signature) = text.rsplit_once('.')?;
        let (header, payload) = signed.split_once('.')?;
        let object = |part| Members::parse(&decode(part)?);
        let (header, payload) = (object(header)?, object(payload)?);
        Some(Self { signed: signed.as_bytes(), signature: decode(signature)?, header, payload })
    }

    /// Whether it says to be of `issuer`, once.
    pub(super) fn is_of(&self, issuer: &str) -> bool {
        self.payload.text("iss").is_ok_and(|iss| iss.as_deref() == Some(issuer))
    }

    /// The header, where it has the type of an access token and an algorithm of `algorithms`.
    pub(super) fn header(&self, token_type: TokenType, algorithms: &[SignatureAlgorithm]) -> Result<Header, Outcome> {
        let text = |name| self.header.text(name).map_err(|Faulty| Outcome::Header);
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
        if kid.as_ref().is_some_and(|kid| kid.len() > MAX_KID) {
            return Err(Outcome::Key);
        }
        Ok(Header { algorithm, kid, is_access_token })
    }

    /// The key of `keys` that verifies the signature.
    pub(super) fn verified(&self, header: &Header, keys: &KeySet) -> Result<KeyId, Outcome> {
        let mut candidates = keys.candidates(header.kid.as_deref(), header.algorithm).peekable();
        candidates.peek().ok_or(Outcome::Key)?;
        let key = candidates.find(|key| key.verifies(self.signed, &self.signature)).ok_or(Outcome::Signature)?;
        Ok(key.id)
    }
}

/// A media type of RFC 9068, whose `application/` may be left out.
fn is_access_token(typ: &str) -> bool {
    ["at+jwt", "application/at+jwt"].iter().any(|known| typ.eq_ignore_ascii_case(known))
}

/// Without padding, other characters and bits that mean nothing: so a token has one text, and one digest.
pub(super) fn decode(part: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(part).ok()
}

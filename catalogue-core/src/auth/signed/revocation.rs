//! [`Revocation`]: the record that revokes one signed token (decision O29).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::algorithm::SignatureAlgorithm;
use super::claims::instant;
use super::json_object::JsonObject;
use super::token::{MAX_BYTES, SignedToken};
use crate::auth::BearerToken;
use crate::model::TokenDigest;
use crate::timestamp::Timestamp;

/// The order of P-256.
const P256: [u64; 4] = [0xffff_ffff_0000_0000, u64::MAX, 0xbce6_faad_a717_9e84, 0xf3b9_cac2_fc63_2551];
/// The order of P-384.
const P384: [u64; 6] =
    [u64::MAX, u64::MAX, u64::MAX, 0xc763_4d81_f437_2ddf, 0x581a_0db2_48b0_a77a, 0xecec_196a_ccc5_2973];

/// Input for [`AdminStorage::revoke_tokens`](crate::admin::AdminStorage::revoke_tokens), from one signed token. The token
/// is parsed, but not verified: only [`SignedTokens`](super::SignedTokens) verifies it.
#[derive(Debug)]
pub struct Revocation {
    digests: Vec<TokenDigest>,
    expires_at: Timestamp,
    claims: JsonObject,
}

impl Revocation {
    /// Creates the revocation of `token`. Returns `None` if it is not a well-formed signed token with an expiry: such a
    /// token is never accepted.
    #[must_use]
    pub fn of(token: BearerToken<'_>) -> Option<Self> {
        let text = token.expose();
        let signed = SignedToken::parse(text).filter(|_| text.len() <= MAX_BYTES)?;
        let expires_at = signed.payload.number("exp").ok()?.and_then(instant)?;
        let mut digests = vec![token.digest()];
        if let Some(signature) = signed.twin() {
            let signed = &text[..signed.signed.len()];
            digests.push(TokenDigest::of(&format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))));
        }
        Some(Self { digests, expires_at, claims: signed.payload })
    }

    /// Returns the token's digest and, for an ECDSA signature, the digest of the same token with the other valid signature.
    #[must_use]
    pub fn digests(&self) -> &[TokenDigest] {
        &self.digests
    }

    /// Returns when the token expires.
    #[must_use]
    pub const fn expires_at(&self) -> Timestamp {
        self.expires_at
    }

    /// Returns whether one of the token's claims is `text`, such as the id of an account.
    #[must_use]
    pub fn mentions(&self, text: &str) -> bool {
        self.claims.has_text_value(text)
    }
}

impl SignedToken<'_> {
    /// Returns the signature (r, n − s), which verifies if this token's (r, s) does.
    fn twin(&self) -> Option<Vec<u8>> {
        let order = match SignatureAlgorithm::from_name(&self.header.text("alg").ok()??)? {
            SignatureAlgorithm::Es256 => &P256[..],
            SignatureAlgorithm::Es384 => &P384,
            _ => return None,
        };
        let (r, s) = self.signature.split_at_checked(order.len() * 8).filter(|(r, s)| r.len() == s.len())?;
        Some([r, &subtract(order, s)].concat())
    }
}

/// Returns `from - subtrahend`, for big-endian numbers of the same length. Wraps if negative; then the signature is invalid.
fn subtract(from: &[u64], subtrahend: &[u8]) -> Vec<u8> {
    let (digits, _) = subtrahend.as_chunks();
    let mut borrowed = false;
    let mut difference: Vec<_> = from
        .iter()
        .zip(digits)
        .rev()
        .map(|(&from, &subtrahend)| {
            let (digit, is_less) = from.overflowing_sub(u64::from_be_bytes(subtrahend));
            let (digit, is_less_by_one) = digit.overflowing_sub(u64::from(borrowed));
            borrowed = is_less || is_less_by_one;
            digit.to_be_bytes()
        })
        .collect();
    difference.reverse();
    difference.concat()
}

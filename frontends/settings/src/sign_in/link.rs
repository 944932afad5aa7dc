//! [`SignInLink`]: a link that signs in once.

use std::fmt;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use catalogue_core::auth::{BearerToken, TokenDigest};
use catalogue_core::storage::NewSignIn;
use catalogue_core::{AccountId, Address, Timestamp};

/// What codes begin with.
pub const LINK_PREFIX: &str = "csin_";

/// How long a link works by default.
pub const DEFAULT_LINK_LIFETIME: Duration = Duration::from_secs(15 * 60);

/// How long a link works at most.
pub const MAX_LINK_LIFETIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);

const SECRET: usize = 43;

/// A sign-in link that was just made: `csin_` and 256 random bits in the fragment of an address, which no browser sends. It
/// prints nothing of itself.
#[derive(Clone)]
pub struct SignInLink {
    page: String,
    code: String,
}

impl SignInLink {
    /// A link to the settings at `settings_url` that signs the owner of `account` in, and what a storage keeps of it. It
    /// works from `now` on for `lifetime`, or [`MAX_LINK_LIFETIME`] where that is shorter.
    ///
    /// # Panics
    /// When the system has no randomness to give.
    #[must_use]
    pub fn mint(account: AccountId, settings_url: &Address, now: Timestamp, lifetime: Duration) -> (Self, NewSignIn) {
        let link =
            Self { page: format!("{}/sign-in", settings_url.as_str()), code: format!("{LINK_PREFIX}{}", secret()) };
        let expires_at = now.checked_add(lifetime.min(MAX_LINK_LIFETIME)).unwrap_or(Timestamp::MAX);
        let kept = NewSignIn { digest: digest_of(&link.code), account, created_at: now, expires_at };
        (link, kept)
    }

    /// The whole link, or its path where the settings' address is one.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}#{}", self.page, self.code)
    }

    /// The code alone, to be pasted.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }
}

impl fmt::Debug for SignInLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SignInLink(..)")
    }
}

/// 256 random bits.
pub(super) fn secret() -> String {
    let mut random = [0; 32];
    getrandom::fill(&mut random).expect("the system's randomness");
    URL_SAFE_NO_PAD.encode(random)
}

/// The digest of a secret, or of a code with one.
pub(super) fn digest_of(secret: &str) -> TokenDigest {
    BearerToken::new(secret).expect("base64url is a bearer token").digest()
}

/// The digest of a text that has the form of a code.
pub(super) fn digest(code: &str) -> Option<TokenDigest> {
    let has_form = code.len() == LINK_PREFIX.len() + SECRET && code.starts_with(LINK_PREFIX);
    BearerToken::new(code).filter(|_| has_form).map(|code| code.digest())
}

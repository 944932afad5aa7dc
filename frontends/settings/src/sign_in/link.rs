//! [`SignInLink`]: a link that signs in once.

use std::fmt;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use catalogue_core::auth::{BearerToken, TokenDigest};
use catalogue_core::storage::NewSignIn;
use catalogue_core::{AccountId, MountUrl, Timestamp};

/// Prefix of sign-in codes.
pub const LINK_PREFIX: &str = "csin_";

/// Default lifetime of a link.
pub const DEFAULT_LINK_LIFETIME: Duration = Duration::from_secs(15 * 60);

/// Maximum lifetime of a link.
pub const MAX_LINK_LIFETIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);

const SECRET_LEN: usize = 43;

/// A new sign-in link: `csin_` and 256 random bits in the fragment of a URL, which browsers do not send. Its `Debug` output
/// does not contain them.
#[derive(Clone)]
pub struct SignInLink {
    page: String,
    code: String,
}

impl SignInLink {
    /// Creates a link to the settings at `settings_url` that signs the owner of `account` in, and the record to store.
    /// It is valid from `now` for `lifetime`, but at most for [`MAX_LINK_LIFETIME`].
    ///
    /// # Panics
    /// Panics if the system has no source of randomness.
    #[must_use]
    pub fn mint(account: AccountId, settings_url: &MountUrl, now: Timestamp, lifetime: Duration) -> (Self, NewSignIn) {
        let link =
            Self { page: format!("{}/sign-in", settings_url.as_str()), code: format!("{LINK_PREFIX}{}", secret()) };
        let expires_at = now.checked_add(lifetime.min(MAX_LINK_LIFETIME)).unwrap_or(Timestamp::MAX);
        let sign_in = NewSignIn { digest: digest_of(&link.code), account, created_at: now, expires_at };
        (link, sign_in)
    }

    /// Returns the whole link, or its path if the settings' URL is only a path.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}#{}", self.page, self.code)
    }

    /// Returns only the code, for pasting.
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

/// Returns 256 random bits as text.
pub(super) fn secret() -> String {
    let mut random = [0; 32];
    getrandom::fill(&mut random).expect("the system's randomness");
    URL_SAFE_NO_PAD.encode(random)
}

/// Returns the digest of a session's secret or of a sign-in code.
pub(super) fn digest_of(secret: &str) -> TokenDigest {
    BearerToken::new(secret).expect("base64url is a bearer token").digest()
}

/// Returns the digest of `code` if it is well-formed.
pub(super) fn code_digest(code: &str) -> Option<TokenDigest> {
    let is_well_formed = code.len() == LINK_PREFIX.len() + SECRET_LEN && code.starts_with(LINK_PREFIX);
    BearerToken::new(code).filter(|_| is_well_formed).map(|code| code.digest())
}

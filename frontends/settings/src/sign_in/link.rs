//! [`SignInLink`]: a link that signs in once.

use std::fmt;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use catalogue_core::admin::Account;
use catalogue_core::auth::{BearerToken, TokenDigest};
use catalogue_core::storage::NewSignIn;
use catalogue_core::{MountUrl, Timestamp};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Prefix of sign-in codes.
pub const LINK_PREFIX: &str = "csin_";

/// Default lifetime of a link.
pub const DEFAULT_LINK_LIFETIME: Duration = Duration::from_secs(15 * 60);

/// Maximum lifetime of a link.
pub const MAX_LINK_LIFETIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);

const SECRET_LEN: usize = 43;

/// Maximum length of the account's name in a link, in characters.
const MAX_SHOWN_NAME: usize = 60;

/// A new sign-in link: `csin_`, 256 random bits and the account's name in the fragment of a URL, which browsers do not send.
/// The sign-in page shows the name before the code is used; a code with another name is invalid. Its `Debug` output contains
/// neither.
#[derive(Clone)]
pub struct SignInLink {
    page: String,
    code: String,
}

impl SignInLink {
    /// Creates a link to the settings at `settings_url` that signs the owner of `account` in, and the record to store. An
    /// account without a name is named by its id.
    /// It is valid from `now` for `lifetime`, but at most for [`MAX_LINK_LIFETIME`].
    ///
    /// # Panics
    /// Panics if the system has no source of randomness.
    #[must_use]
    pub fn mint(account: &Account, settings_url: &MountUrl, now: Timestamp, lifetime: Duration) -> (Self, NewSignIn) {
        let name = if account.name.is_empty() { account.id.as_str() } else { &account.name };
        let name: String = name.chars().take(MAX_SHOWN_NAME).collect();
        // Bearer tokens may contain a tilde, but no percent sign.
        let name = utf8_percent_encode(&name, NON_ALPHANUMERIC).to_string().replace('%', "~");
        let code = format!("{LINK_PREFIX}{}.{name}", secret());
        let link = Self { page: format!("{}/sign-in", settings_url.as_str()), code };
        let expires_at = now.checked_add(lifetime.min(MAX_LINK_LIFETIME)).unwrap_or(Timestamp::MAX);
        let account = account.id.clone();
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
    let secret = code.strip_prefix(LINK_PREFIX)?.split('.').next()?;
    BearerToken::new(code).filter(|_| secret.len() == SECRET_LEN).map(|code| code.digest())
}

//! [`Authenticator`]: resolves tokens to identities.

use std::fmt;

use async_trait::async_trait;
use auto_impl::auto_impl;

use super::bearer::BearerToken;
use crate::model::Identity;
use crate::storage::StorageError;

/// Result of [`Authenticator::authenticate`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The token is valid and belongs to this identity.
    Accepted(Identity),
    /// The token is known to be invalid; no other authenticator is tried.
    Refused(Refusal, Option<Explanation>),
    /// Not a token of this authenticator: the next one is tried. A token that no authenticator recognizes is invalid.
    Unrecognized,
}

/// Why a request gets a 401 (decision A3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refusal {
    /// The request has no bearer token: no header, another scheme, no token after the scheme, or several headers.
    Missing,
    /// The token is malformed, unknown, or otherwise invalid.
    Invalid,
    /// The token is genuine, but has expired. A guess must be refused as [`Invalid`](Self::Invalid).
    Expired,
    /// The token is genuine, but was revoked. A guess must be refused as [`Invalid`](Self::Invalid).
    Revoked,
}

impl Refusal {
    pub(crate) const ALL: [Self; 4] = [Self::Missing, Self::Invalid, Self::Expired, Self::Revoked];

    /// Returns the `reason` in the details of a 401.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Invalid => "invalid",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

/// Details of a refusal beyond its reason (decision O32).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Explanation {
    /// One word of a fixed list, for the observer's logs and metrics.
    pub code: &'static str,
    /// Sentence for the caller, the `error_description` of the response: printable ASCII without `"` and `\`. `None`
    /// unless the caller has proved that it holds a genuine token.
    pub description: Option<&'static str>,
}

/// Resolves tokens to identities.
///
/// # Contract
/// - Refuse a token in every call after it expired or was revoked, even if verdicts are cached (decision C3).
/// - Return an error, never a refusal, if a storage or service is unreachable, so that no client discards a valid token
///   (decision A19).
/// - Calls may run concurrently and may be dropped before they finish.
///
/// ```
/// use catalogue_core::auth::{Authenticator, BearerToken, Identity, Scopes, Verdict};
/// use catalogue_core::storage::StorageError;
/// use catalogue_core::{AccountId, async_trait};
///
/// /// One fixed token of one account, for tests.
/// #[derive(Debug)]
/// struct OneToken;
///
/// #[async_trait]
/// impl Authenticator for OneToken {
///     async fn authenticate(&self, token: BearerToken<'_>) -> Result<Verdict, StorageError> {
///         if token.expose() != "letmein" {
///             return Ok(Verdict::Unrecognized);
///         }
///         let scopes = Scopes::from_names(["read:courses"]);
///         Ok(Verdict::Accepted(Identity::api_key(AccountId::new("acc_1"), "key_1", scopes)))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot authenticate tokens: it does not implement `Authenticator`",
    label = "not an `Authenticator`",
    note = "implement `authenticate`, with `#[catalogue_core::async_trait]` above the `impl`",
    note = "for a `CredentialStorage`, use `StoredCredentials::new(storage)`; if it also stores the courses, use `Catalogue::with_api_keys(storage)`"
)]
#[async_trait]
#[auto_impl(Arc, Box)]
pub trait Authenticator: fmt::Debug + Send + Sync + 'static {
    /// Identifies the caller that holds `token`.
    /// Signature: `async fn authenticate(&self, token: BearerToken<'_>) -> Result<Verdict, StorageError>`
    ///
    /// # Errors
    /// Returns an error if the token cannot be checked now; the request gets a 500.
    async fn authenticate(&self, token: BearerToken<'_>) -> Result<Verdict, StorageError>;

    /// Returns the issuer and the audience of signed tokens, for the documents (decision O34). Default: `None`. The documents
    /// omit both if one of them has a backtick or a control character.
    fn issuer_and_audience(&self) -> Option<(&str, &str)> {
        None
    }
}

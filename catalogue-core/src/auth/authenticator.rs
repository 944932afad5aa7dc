//! [`Authenticator`]: whose token is this?

use std::fmt;

use async_trait::async_trait;
use auto_impl::auto_impl;

use super::bearer::BearerToken;
use crate::model::Identity;
use crate::storage::StorageError;

/// What an [`Authenticator`] says of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The token is good, and this is who holds it.
    Accepted(Identity),
    /// The token is known to be bad; no other authenticator is asked.
    Refused(Refusal),
    /// The same, with what more may be said of it.
    Explained(Refusal, Explanation),
    /// Not a token of this authenticator: the next one is asked. After the last one the token is invalid.
    NotMine,
}

/// Why a request is answered 401 (decision A3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refusal {
    /// No bearer token came: no header, another scheme, no token behind the scheme, or several headers.
    Missing,
    /// The token is malformed or unknown.
    Invalid,
    /// The token has expired. Only a caller who sent the whole token, and no guess, may learn that.
    Expired,
    /// The token was revoked. Only a caller who sent the whole token, and no guess, may learn that.
    Revoked,
}

impl Refusal {
    pub(crate) const ALL: [Self; 4] = [Self::Missing, Self::Invalid, Self::Expired, Self::Revoked];

    /// The `reason` in the details of a 401.
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

/// What is said of a refusal beyond its reason (decision O32).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Explanation {
    /// One word of a fixed list, for the observer: logs and metrics.
    pub word: &'static str,
    /// A sentence for the caller, the `error_description` of the answer: visible ASCII without `"` and `\`. Only for who has
    /// proved to hold a true token.
    pub description: Option<&'static str>,
}

/// Finds out whose a token is.
///
/// # Contract
/// - A token that was revoked or has expired is refused from the next call on: no verdict may be cached beyond that
///   (decision C3).
/// - A storage or service out of reach is an error and never a refusal, so that nobody throws a good token away
///   (decision A19).
/// - Calls may run at the same time and may be dropped before they finish.
///
/// ```
/// use catalogue_core::auth::{Authenticator, BearerToken, Identity, Scopes, Verdict};
/// use catalogue_core::storage::StorageError;
/// use catalogue_core::{AccountId, async_trait};
///
/// /// One fixed token of one account, as a test may want it.
/// #[derive(Debug)]
/// struct OneToken;
///
/// #[async_trait]
/// impl Authenticator for OneToken {
///     async fn authenticate(&self, token: BearerToken<'_>) -> Result<Verdict, StorageError> {
///         if token.expose() != "letmein" {
///             return Ok(Verdict::NotMine);
///         }
///         let scopes = Scopes::from_names(["read:courses"]);
///         Ok(Verdict::Accepted(Identity::api_key(AccountId::new("acc_1"), "key_1", scopes)))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say whose a token is: it does not implement `Authenticator`",
    label = "no `Authenticator`",
    note = "implement `authenticate`, with `#[catalogue_core::async_trait]` above the `impl`",
    note = "a `CredentialStorage` becomes one by `StoredCredentials::new(storage)`; one that has the courses too is built with `Catalogue::with_api_keys(storage)`"
)]
#[async_trait]
#[auto_impl(Arc, Box)]
pub trait Authenticator: fmt::Debug + Send + Sync + 'static {
    /// Says whose `token` is.
    ///
    /// # Errors
    /// When that cannot be found out now; the request is answered 500.
    async fn authenticate(&self, token: BearerToken<'_>) -> Result<Verdict, StorageError>;

    /// Whose signed tokens these are, and for which audience: the documents name both (decision O34). Default `None`. Texts
    /// with a backtick or a control character are not named.
    fn issuer_and_audience(&self) -> Option<(&str, &str)> {
        None
    }
}

//! [`Identity`]: the account and the credential behind a request (section 2.1).

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::{AccountId, Scopes, TokenDigest};

/// Kind of a caller's credential (sections 5.1 and 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CredentialKind {
    /// An API key that the account's owner created.
    ApiKey,
    /// An OAuth access token.
    OAuth,
    /// A session managed by the host application; the catalogue does not store it. Only the host application decides
    /// who has one, and with which scopes, so [`accept`](crate::CatalogueBuilder::accept) does not apply to it.
    Session,
}

impl CredentialKind {
    /// All kinds that a storage holds, and that a deployment accepts or not (decision A5).
    pub const ALL: &'static [Self] = &[Self::ApiKey, Self::OAuth];

    /// Returns the kind's name in configurations and lists.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ApiKey => "api-key",
            Self::OAuth => "oauth",
            Self::Session => "session",
        }
    }

    /// Returns the prefix of this kind's tokens that [`NewToken`](crate::auth::NewToken) generates. Session tokens are
    /// opaque like OAuth tokens and have the same prefix, so the same scanners find them.
    #[must_use]
    pub const fn token_prefix(self) -> &'static str {
        match self {
            Self::ApiKey => "ccat_",
            Self::OAuth | Self::Session => "cato_",
        }
    }

    /// Returns the kind named `name` among [`ALL`](Self::ALL).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

/// The credential behind a request: its account, kind, record and scopes.
///
/// Create one with [`Identity::api_key`], [`Identity::oauth`], [`Identity::issued`] or [`Identity::session`]. Outside
/// this crate, `Identity { … }` does not compile (E0639), since fields may be added.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Identity {
    /// Account that the credential belongs to; `userId` in responses.
    pub account: AccountId,
    /// The credential's kind.
    pub kind: CredentialKind,
    /// Id of the credential's record; `apiKeyId` in responses. It must not let anyone recover the token.
    pub credential_id: Arc<str>,
    /// The scopes granted to the credential.
    pub scopes: Scopes,
    /// Issuer and client of a signed or introspected token; `None` for stored credentials and sessions.
    pub issued: Option<Issued>,
}

/// Origin of a signed or introspected token (decision O20).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Issued {
    /// The authorization server.
    pub issuer: Arc<str>,
    /// Client that the token was issued to, if the token names one.
    pub client: Option<Arc<str>>,
    /// Text that represents issuer and client in a rate limit.
    rate_limit_subject: Arc<str>,
}

impl Issued {
    /// Creates the origin of a token that `issuer` issued to `client`.
    pub fn new(issuer: impl Into<Arc<str>>, client: Option<Arc<str>>) -> Self {
        let issuer = issuer.into();
        // The length separates the issuer's text from the client's. Hashed, since both can be long.
        let digest = TokenDigest::of(&format!("{}:{issuer}{}", issuer.len(), client.as_deref().unwrap_or_default()));
        let rate_limit_subject = digest.id(if client.is_some() { "client" } else { "issuer" }).into();
        Self { issuer, client, rate_limit_subject }
    }
}

/// An identity as `GET /me` returns it (section 2.1).
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Identity")]
pub(crate) struct IdentityView<'i> {
    /// Id of the account behind the credential.
    user_id: &'i str,
    /// For an API key: the id of the API key record. For an OAuth token: `oauth:<hash>`.
    api_key_id: &'i str,
    /// Scopes granted to this credential.
    scopes: &'i Scopes,
}

impl Identity {
    /// Creates the identity of an API key with the record `id`.
    pub fn api_key(account: AccountId, id: impl Into<Arc<str>>, scopes: Scopes) -> Self {
        Self::new(account, CredentialKind::ApiKey, id.into(), scopes)
    }

    /// Creates the identity of an OAuth token. Its id is made from `digest` (decision A10).
    #[must_use]
    pub fn oauth(account: AccountId, digest: &TokenDigest, scopes: Scopes) -> Self {
        Self::new(account, CredentialKind::OAuth, digest.id("oauth").into(), scopes)
    }

    /// Creates the identity of a session managed by the host application: of a user who is logged in there with a
    /// cookie, through a gateway, or with a token that is neither an API key nor an OAuth token.
    ///
    /// `GET /me`, the observer and logs show `id` unchanged, so it must not be the session's secret.
    pub fn session(account: AccountId, id: impl Into<Arc<str>>, scopes: Scopes) -> Self {
        Self::new(account, CredentialKind::Session, id.into(), scopes)
    }

    /// Creates the identity of a signed or introspected token. Its id is made from `digest`.
    #[must_use]
    pub fn issued(account: AccountId, digest: &TokenDigest, scopes: Scopes, issued: Issued) -> Self {
        Self { issued: Some(issued), ..Self::oauth(account, digest, scopes) }
    }

    fn new(account: AccountId, kind: CredentialKind, credential_id: Arc<str>, scopes: Scopes) -> Self {
        Self { account, kind, credential_id, scopes, issued: None }
    }

    /// Returns what a rate limit counts the caller by, besides account and kind (decision O20): the credential's id. For an
    /// issued token, returns a text for issuer and client (if the token names one), because a client could have a new token
    /// for each request. This text is never a credential's id.
    #[must_use]
    pub fn rate_limit_subject(&self) -> &str {
        self.issued.as_ref().map_or(&self.credential_id, |issued| &issued.rate_limit_subject)
    }

    pub(crate) fn view(&self) -> IdentityView<'_> {
        IdentityView { user_id: self.account.as_str(), api_key_id: &self.credential_id, scopes: &self.scopes }
    }
}

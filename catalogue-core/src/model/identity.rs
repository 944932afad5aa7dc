//! [`Identity`]: the account and the credential behind a request (section 2.1).

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::{AccountId, Scopes, TokenDigest};

/// What kind of credential a caller holds (sections 5.1 and 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CredentialKind {
    /// An API key that the account's owner created.
    ApiKey,
    /// An OAuth access token.
    OAuth,
    /// A session of the host's own, which no storage of ours keeps. The host alone says who has one, and with which
    /// scopes, so [`accept`](crate::CatalogueBuilder::accept) does not apply to it.
    Session,
}

impl CredentialKind {
    /// Every kind that a storage keeps, and that a deployment accepts or not (decision A5).
    pub const ALL: &'static [Self] = &[Self::ApiKey, Self::OAuth];

    /// The kind's name in configurations and lists.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ApiKey => "api-key",
            Self::OAuth => "oauth",
            Self::Session => "session",
        }
    }

    /// The prefix of the tokens of this kind that [`NewToken`](crate::auth::NewToken) makes. Those of sessions are opaque
    /// tokens like OAuth's, so the same scanners find them.
    #[must_use]
    pub const fn token_prefix(self) -> &'static str {
        match self {
            Self::ApiKey => "ccat_",
            Self::OAuth | Self::Session => "cato_",
        }
    }

    /// The kind of that name among [`ALL`](Self::ALL).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

/// The credential behind a request: its account, kind, record and scopes.
///
/// [`Identity::api_key`], [`Identity::oauth`], [`Identity::issued`] and [`Identity::session`] make one. Outside this
/// crate `Identity { … }` does not compile (E0639), since further fields may be added.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Identity {
    /// The account behind the credential; `userId` in answers.
    pub account: AccountId,
    /// The credential's kind.
    pub kind: CredentialKind,
    /// The id of the credential's record; `apiKeyId` in answers. It must not let anyone recover the token.
    pub credential_id: Arc<str>,
    /// The scopes granted to the credential.
    pub scopes: Scopes,
    /// Who issued the token and to whom, where an authorization server signed it; nothing of it is stored.
    pub issued: Option<Issued>,
}

/// Where a signed token is from (decision O20).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Issued {
    /// The authorization server.
    pub issuer: Arc<str>,
    /// The client that it was issued to, where the token names one.
    pub client: Option<Arc<str>>,
    /// What stands for issuer and client in a rate limit.
    counted_as: Arc<str>,
}

impl Issued {
    /// By that issuer, to that client.
    pub fn new(issuer: impl Into<Arc<str>>, client: Option<Arc<str>>) -> Self {
        let issuer = issuer.into();
        // With its length, so that no issuer's text runs into a client's; a digest, since both can be long.
        let digest = TokenDigest::of(&format!("{}:{issuer}{}", issuer.len(), client.as_deref().unwrap_or_default()));
        let counted_as = digest.id(if client.is_some() { "client" } else { "issuer" }).into();
        Self { issuer, client, counted_as }
    }
}

/// An identity as `GET /me` shows it (section 2.1).
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
    /// The identity behind an API key whose record has that id.
    pub fn api_key(account: AccountId, id: impl Into<Arc<str>>, scopes: Scopes) -> Self {
        Self::new(account, CredentialKind::ApiKey, id.into(), scopes)
    }

    /// The identity behind the OAuth token with that digest, which gives it its id (decision A10).
    #[must_use]
    pub fn oauth(account: AccountId, digest: &TokenDigest, scopes: Scopes) -> Self {
        Self::new(account, CredentialKind::OAuth, digest.id("oauth").into(), scopes)
    }

    /// The identity behind a session of the host's own: somebody who is logged in there by a cookie, a gateway, or a
    /// token that is neither an API key nor OAuth's.
    ///
    /// `GET /me`, the observer and logs have `id` as it is given here, so it must not be the session's secret.
    pub fn session(account: AccountId, id: impl Into<Arc<str>>, scopes: Scopes) -> Self {
        Self::new(account, CredentialKind::Session, id.into(), scopes)
    }

    /// The identity behind the token with that digest, which an authorization server signed.
    #[must_use]
    pub fn issued(account: AccountId, digest: &TokenDigest, scopes: Scopes, issued: Issued) -> Self {
        Self { issued: Some(issued), ..Self::oauth(account, digest, scopes) }
    }

    fn new(account: AccountId, kind: CredentialKind, credential_id: Arc<str>, scopes: Scopes) -> Self {
        Self { account, kind, credential_id, scopes, issued: None }
    }

    /// What a rate limit counts the caller by, beside account and kind (decision O20): the credential's id, or issuer and
    /// client of a token that was issued, since a client could have a new one for each request; the issuer alone where it
    /// names no client. No such text is an id.
    #[must_use]
    pub fn counted_as(&self) -> &str {
        self.issued.as_ref().map_or(&self.credential_id, |issued| &issued.counted_as)
    }

    pub(crate) fn view(&self) -> IdentityView<'_> {
        IdentityView { user_id: self.account.as_str(), api_key_id: &self.credential_id, scopes: &self.scopes }
    }
}

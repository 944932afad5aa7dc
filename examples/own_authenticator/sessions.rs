//! [`Sessions`]: sessions of logged-in users.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use axum::http::header::COOKIE;
use axum::http::request;
use catalogue_core::auth::{
    Authenticator, BearerToken, CredentialKind, Identity, NewToken, Refusal, Scopes, TokenDigest, Verdict,
};
use catalogue_core::storage::StorageError;
use catalogue_core::{AccountId, Timestamp, async_trait};

/// Sessions in the memory of this process, by the digest of their token. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sessions(Arc<RwLock<HashMap<TokenDigest, Session>>>);

#[derive(Debug)]
struct Session {
    account: AccountId,
    /// Id of the session. `GET /me` and the log contain it, so it must not be the token.
    id: String,
    ended_at: Option<Timestamp>,
}

impl Sessions {
    /// Begins a session of `account`.
    pub(crate) fn begin(&self, account: AccountId) -> NewToken {
        let token = NewToken::mint(CredentialKind::Session);
        let mut sessions = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let session = Session { account, id: format!("session_{}", sessions.len() + 1), ended_at: None };
        sessions.insert(token.digest(), session);
        token
    }

    /// Ends the session of `token`, if there is one.
    pub(crate) fn end(&self, token: BearerToken<'_>) {
        let mut sessions = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = sessions.get_mut(&token.digest()) {
            session.ended_at.get_or_insert_with(Timestamp::now);
        }
    }

    /// Returns the identity of a request with the cookie of an active session.
    pub(crate) fn by_cookie(&self, head: &request::Parts) -> Option<Identity> {
        // HTTP/2 may send cookies in several headers.
        let fields = head.headers.get_all(COOKIE).iter().filter_map(|field| field.to_str().ok());
        let token = fields.flat_map(|field| field.split("; ")).find_map(|cookie| cookie.strip_prefix("session="))?;
        match self.verdict(BearerToken::new(token)?) {
            Verdict::Accepted(identity) => Some(identity),
            _ => None,
        }
    }

    fn verdict(&self, token: BearerToken<'_>) -> Verdict {
        let digest = token.digest();
        match self.0.read().unwrap_or_else(PoisonError::into_inner).get(&digest) {
            None => Verdict::Unrecognized,
            Some(Session { ended_at: Some(_), .. }) => Verdict::Refused(Refusal::Revoked, None),
            Some(Session { account, id, ended_at: None }) => {
                let scopes = Scopes::from_names(["read:profile", "read:courses"]);
                Verdict::Accepted(Identity::session(account.clone(), id.as_str(), scopes))
            }
        }
    }
}

/// Verdicts are not cached, so the end of a session takes effect with the next request. A real application may query a
/// service here (RFC 7662). An unreachable service must be an error (a 500) and not a refusal, or clients discard
/// valid tokens.
#[async_trait]
impl Authenticator for Sessions {
    async fn authenticate(&self, token: BearerToken<'_>) -> Result<Verdict, StorageError> {
        Ok(self.verdict(token))
    }
}

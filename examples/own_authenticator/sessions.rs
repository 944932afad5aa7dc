//! [`Sessions`]: who is logged in.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use axum::http::header::COOKIE;
use axum::http::request;
use catalogue_core::auth::{
    Authenticator, BearerToken, CredentialKind, Identity, NewToken, Refusal, Scopes, TokenDigest, Verdict,
};
use catalogue_core::storage::StorageError;
use catalogue_core::{AccountId, Timestamp, async_trait};

/// Sessions in this process's memory, by the digest of their token. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sessions(Arc<RwLock<HashMap<TokenDigest, Session>>>);

#[derive(Debug)]
struct Session {
    account: AccountId,
    /// Which of the account's it is: what `GET /me` shows, and the log.
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

    /// Ends the session of that token, if there is one.
    pub(crate) fn end(&self, token: BearerToken<'_>) {
        let mut sessions = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = sessions.get_mut(&token.digest()) {
            session.ended_at.get_or_insert_with(Timestamp::now);
        }
    }

    /// Whose cookie a request carries, while the session lasts.
    pub(crate) fn by_cookie(&self, head: &request::Parts) -> Option<Identity> {
        // HTTP/2 may send them apart.
        let fields = head.headers.get_all(COOKIE).iter().filter_map(|field| field.to_str().ok());
        let token = fields.flat_map(|field| field.split("; ")).find_map(|cookie| cookie.strip_prefix("session="))?;
        match self.judge(BearerToken::new(token)?) {
            Verdict::Accepted(identity) => Some(identity),
            _ => None,
        }
    }

    fn judge(&self, token: BearerToken<'_>) -> Verdict {
        let digest = token.digest();
        match self.0.read().unwrap_or_else(PoisonError::into_inner).get(&digest) {
            None => Verdict::NotMine,
            Some(Session { ended_at: Some(_), .. }) => Verdict::Refused(Refusal::Revoked),
            Some(Session { account, id, ended_at: None }) => {
                let scopes = Scopes::from_names(["read:profile", "read:courses"]);
                Verdict::Accepted(Identity::session(account.clone(), id.as_str(), scopes))
            }
        }
    }
}

/// Nothing is remembered between two calls, so an end counts from the next request on. A real host may ask a service here
/// (RFC 7662). One out of reach is an error, answered 500, and never a refusal: nobody throws a good token away for it.
#[async_trait]
impl Authenticator for Sessions {
    async fn authenticate(&self, token: BearerToken<'_>) -> Result<Verdict, StorageError> {
        Ok(self.judge(token))
    }
}

//! Identifies the caller: by the host application's function, or by the token of the request.

use http::request;

use super::Inner;
use crate::auth::{BearerToken, CredentialLookup, Refusal, Verdict, look_up};
use crate::error::ApiError;
use crate::limit::ClientAddress;
use crate::model::{Identity, Revision};

impl Inner {
    /// Returns the caller and, if the lookup included it, the revision of their courses. The caller is `known`, or else the
    /// one that the host application's function names, or else the holder of the token.
    pub(super) async fn caller<'s>(
        &self,
        request: &request::Parts,
        token: Result<BearerToken<'_>, Refusal>,
        known: Option<Identity>,
        identified: &'s mut Option<Identity>,
    ) -> Result<(&'s Identity, Option<Revision>), ApiError> {
        let host_identity = known.or_else(|| (self.identify.as_ref()?.0)(request));
        let (identity, revision) = match host_identity {
            Some(identity) => (identity, None),
            None => self.holder(token, request, identified).await?,
        };
        Ok((identified.insert(identity), revision))
    }

    /// Returns the holder of the token, unless the client has tried too many unknown tokens.
    async fn holder(
        &self,
        token: Result<BearerToken<'_>, Refusal>,
        request: &request::Parts,
        identified: &mut Option<Identity>,
    ) -> Result<(Identity, Option<Revision>), ApiError> {
        let client = request.extensions.get::<ClientAddress>();
        let attempt = match (&self.enforcer, client, token) {
            (Some(enforcer), Some(client), token) => {
                enforcer.attempt(token, *client).await.map_err(ApiError::RateLimited)?
            }
            _ => None,
        };
        let result = self.authenticate(token.map_err(ApiError::unauthorized)?, identified).await;
        if let Some(attempt) = attempt {
            let is_accepted = match &result {
                Ok(_) => Some(true),
                Err(ApiError::Unauthorized(..)) => Some(false),
                Err(_) => None,
            };
            attempt.finish(is_accepted).await;
        }
        result
    }

    /// Returns the holder of the token, from the first authenticator that recognizes it.
    async fn authenticate(
        &self,
        mut token: BearerToken<'_>,
        identified: &mut Option<Identity>,
    ) -> Result<(Identity, Option<Revision>), ApiError> {
        if let Some(credentials) = self.credentials.as_deref() {
            match look_up(credentials, &mut token).await? {
                CredentialLookup::Accepted(identity, revision) => return Ok((identity, revision)),
                CredentialLookup::Refused(refusal, owner) => {
                    *identified = owner;
                    return Err(ApiError::unauthorized(refusal));
                }
                CredentialLookup::Unrecognized => {}
            }
        }
        for authenticator in &self.authenticators {
            match authenticator.authenticate(token).await? {
                Verdict::Accepted(identity) => return Ok((identity, None)),
                Verdict::Refused(refusal, None) => return Err(ApiError::unauthorized(refusal)),
                Verdict::Refused(refusal, Some(explanation)) => {
                    return Err(ApiError::Unauthorized(refusal, Some(explanation)));
                }
                Verdict::Unrecognized => {}
            }
        }
        Err(ApiError::unauthorized(Refusal::Invalid))
    }
}

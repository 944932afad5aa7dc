//! [`Caller`]: who calls, found out from the token of a request.

use http::request;

use crate::auth::{BearerToken, Identity, LookedUp, Refusal, Verdict, look_up};
use crate::catalogue::Inner;
use crate::error::ApiError;
use crate::limit::{ClientAddress, Limits};
use crate::storage::Revision;

/// Who calls, and the revision of their courses where the look-up brought it along.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(crate) identity: Identity,
    pub(crate) revision: Option<Revision>,
}

impl Caller {
    /// What an authenticator says; `None` where the next one is asked.
    fn of(verdict: Verdict) -> Option<Result<Self, ApiError>> {
        match verdict {
            Verdict::Accepted(identity) => Some(Ok(Self { identity, revision: None })),
            Verdict::Refused(refusal) => Some(Err(ApiError::unauthorized(refusal))),
            Verdict::Explained(refusal, explanation) => Some(Err(ApiError::Unauthorized(refusal, Some(explanation)))),
            Verdict::NotMine => None,
        }
    }
}

impl Inner {
    /// Finds out whose token it is, unless its client has tried too many.
    pub(crate) async fn identify(
        &self,
        token: Result<BearerToken<'_>, Refusal>,
        request: &request::Parts,
        seen: &mut Option<Identity>,
    ) -> Result<Caller, ApiError> {
        match &self.limits {
            None => self.authenticate(token.map_err(ApiError::unauthorized)?, seen).await,
            // Boxed, so that a request that nothing limits has no room for this.
            Some(limits) => Box::pin(self.identify_within(limits, token, request, seen)).await,
        }
    }

    async fn identify_within(
        &self,
        limits: &Limits,
        token: Result<BearerToken<'_>, Refusal>,
        request: &request::Parts,
        seen: &mut Option<Identity>,
    ) -> Result<Caller, ApiError> {
        let client = request.extensions.get::<ClientAddress>();
        if token.as_ref().is_err_and(|refusal| *refusal == Refusal::Invalid) {
            limits.count_malformed(client).await?;
        }
        let token = token.map_err(ApiError::unauthorized)?;
        let attempt = limits.attempt(token, client).await?;
        let found = self.authenticate(token, seen).await;
        if let Some(attempt) = attempt {
            attempt.settle(&found).await;
        }
        found
    }

    /// Whose token it is, by the first authenticator that knows it.
    async fn authenticate(&self, mut token: BearerToken<'_>, seen: &mut Option<Identity>) -> Result<Caller, ApiError> {
        if let Some(credentials) = self.credentials.as_deref() {
            match look_up(credentials, &mut token).await? {
                LookedUp::Accepted(identity, revision) => return Ok(Caller { identity, revision }),
                LookedUp::Refused(refusal, whose) => {
                    *seen = whose;
                    return Err(ApiError::unauthorized(refusal));
                }
                LookedUp::NotMine => {}
            }
        }
        for authenticator in &self.authenticators {
            if let Some(found) = Caller::of(authenticator.authenticate(token).await?) {
                return found;
            }
        }
        Err(ApiError::unauthorized(Refusal::Invalid))
    }
}

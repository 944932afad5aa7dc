//! [`Limits`]: what a rate limiter does on a request's way.

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use quick_cache::sync::Cache;

use super::client_address::ClientAddress;
use super::fields::{Fields, Policy};
use super::limiter::{RateLimitKey, RateLimiter, Taken};
use super::windows::{Fingerprint, Fingerprints};
use crate::auth::{BearerToken, Identity};
use crate::error::ApiError;

/// How many tokens are remembered.
const KNOWN_TOKENS: usize = 1 << 16;

/// A limiter, and what it needs to know to be just.
#[derive(Debug)]
pub(crate) struct Limits {
    limiter: Arc<dyn RateLimiter>,
    policy: Policy,
    /// Tokens that were accepted and not refused since, up to a number. One that is known is looked up like any other, and
    /// only not counted as unknown before.
    known: Cache<Fingerprint, ()>,
    fingerprints: Fingerprints,
}

/// A request that was counted, before it is answered.
#[derive(Debug)]
#[must_use = "its answer says what is left"]
pub(crate) struct Counted<'l> {
    limiter: &'l dyn RateLimiter,
    key: RateLimitKey<'l>,
    window: u64,
    fields: Fields,
}

/// A token of a client whose address is known, before it is looked up.
#[derive(Debug)]
#[must_use = "a good token costs nothing"]
pub(crate) struct Attempt<'l> {
    limits: &'l Limits,
    token: Fingerprint,
    /// The token was accepted not long ago.
    is_known: bool,
    /// One that is not known was taken from the allowance of that address in that window, if it could be counted.
    taken: Option<(IpAddr, u64)>,
}

impl Limits {
    pub(crate) fn new(limiter: Arc<dyn RateLimiter>) -> Self {
        let policy = Policy::of(limiter.limit());
        Self { limiter, policy, known: Cache::new(KNOWN_TOKENS), fingerprints: Fingerprints::default() }
    }

    /// Counts a request of `caller`, or refuses it.
    pub(crate) async fn take<'l>(&'l self, caller: &'l Identity) -> Result<Option<Counted<'l>>, ApiError> {
        let key = RateLimitKey::Credential(caller);
        match self.limiter.take(key).await {
            Taken::Granted { remaining, resets_in, window } => {
                let fields = self.policy.with(remaining, resets_in);
                Ok(Some(Counted { limiter: &*self.limiter, key, window, fields }))
            }
            Taken::Refused { resets_in } => Err(ApiError::RateLimited(self.policy.refusal(resets_in))),
            Taken::Uncounted => Ok(None),
        }
    }

    /// Counts a token that is not known by the client's address, before it is looked up, or refuses it.
    pub(crate) async fn attempt(
        &self,
        token: BearerToken<'_>,
        client: Option<&ClientAddress>,
    ) -> Result<Option<Attempt<'_>>, ApiError> {
        let Some(client) = client else { return Ok(None) };
        let token = self.fingerprints.of(token.expose());
        let is_known = self.known.get(&token).is_some();
        let taken = if is_known { None } else { self.take_unknown(*client).await? };
        Ok(Some(Attempt { limits: self, token, is_known, taken }))
    }

    /// Counts a token that none can be, as one that is not known.
    pub(crate) async fn count_malformed(&self, client: Option<&ClientAddress>) -> Result<(), ApiError> {
        if let Some(client) = client {
            self.take_unknown(*client).await?;
        }
        Ok(())
    }

    async fn take_unknown(&self, client: ClientAddress) -> Result<Option<(IpAddr, u64)>, ApiError> {
        let address = client.counted();
        match self.limiter.take(RateLimitKey::UnknownTokens(address)).await {
            Taken::Granted { window, .. } => Ok(Some((address, window))),
            Taken::Refused { resets_in } => Err(ApiError::RateLimited(self.policy.refusal(resets_in))),
            Taken::Uncounted => Ok(None),
        }
    }
}

impl Counted<'_> {
    /// Gives the request back if it `is_free`, and tells who was successful what is left.
    pub(crate) async fn settle(self, response: &mut Response<Bytes>, is_free: bool) {
        if is_free {
            self.limiter.give_back(self.key, self.window).await;
        } else if response.status().is_success() {
            self.fields.insert_into(response.headers_mut());
        }
    }
}

impl Attempt<'_> {
    /// Gives the attempt back unless the token was refused; what cannot be found out now is no fault of the client's.
    pub(crate) async fn settle<T>(self, found: &Result<T, ApiError>) {
        let Self { limits, token, is_known, taken } = self;
        match found {
            Err(ApiError::Unauthorized(..)) if is_known => drop(limits.known.remove(&token)),
            Err(ApiError::Unauthorized(..)) => return,
            Ok(_) if !is_known => limits.known.insert(token, ()),
            _ => {}
        }
        if let Some((address, window)) = taken {
            limits.limiter.give_back(RateLimitKey::UnknownTokens(address), window).await;
        }
    }
}

//! [`Limits`]: applies the rate limiter to requests and to unknown tokens.

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use quick_cache::sync::Cache;

use super::client_address::ClientAddress;
use super::fields::{Fields, Policy, Throttled};
use super::limiter::{RateLimitKey, RateLimiter, Taken};
use super::windows::{Fingerprint, Fingerprints};
use crate::auth::{BearerToken, Refusal};
use crate::model::Identity;

/// Maximum number of tokens that are remembered.
const KNOWN_TOKENS: usize = 1 << 16;

/// A rate limiter, and the accepted tokens that it does not count as unknown.
#[derive(Debug)]
pub(crate) struct Limits {
    limiter: Arc<dyn RateLimiter>,
    policy: Policy,
    /// Tokens that were accepted and not refused since, up to a number. A known token is looked up like any other, but is
    /// not counted as unknown before.
    known: Cache<Fingerprint, ()>,
    fingerprints: Fingerprints,
}

/// A request that was counted and has no response yet.
#[derive(Debug)]
#[must_use = "its answer says what is left"]
pub(crate) struct Counted<'l> {
    limiter: &'l dyn RateLimiter,
    key: RateLimitKey<'l>,
    window: u64,
    fields: Fields,
}

/// A token from a client with a known address, before the token is looked up.
#[derive(Debug)]
#[must_use = "a good token costs nothing"]
pub(crate) struct Attempt<'l> {
    limits: &'l Limits,
    token: Fingerprint,
    /// Whether the token was accepted recently.
    is_known: bool,
    /// Address and window whose allowance an unknown token was taken from, if it could be counted.
    taken: Option<(IpAddr, u64)>,
}

impl Limits {
    pub(crate) fn new(limiter: Arc<dyn RateLimiter>) -> Self {
        let policy = Policy::of(limiter.limit());
        Self { limiter, policy, known: Cache::new(KNOWN_TOKENS), fingerprints: Fingerprints::default() }
    }

    /// Counts a request of `caller`, or refuses it.
    pub(crate) async fn take<'l>(&'l self, caller: &'l Identity) -> Result<Option<Counted<'l>>, Throttled> {
        let key = RateLimitKey::Credential(caller);
        match self.limiter.take(key).await {
            Taken::Granted { remaining, resets_in, window } => {
                let fields = self.policy.with(remaining, resets_in);
                Ok(Some(Counted { limiter: &*self.limiter, key, window, fields }))
            }
            Taken::Refused { resets_in } => Err(self.policy.refusal(resets_in)),
            Taken::Uncounted => Ok(None),
        }
    }

    /// Counts an unknown token against the client's address, before it is looked up, or refuses it. A malformed token
    /// counts as well; a missing one does not. Returns `None` if there is nothing to settle.
    pub(crate) async fn attempt(
        &self,
        token: Result<BearerToken<'_>, Refusal>,
        client: ClientAddress,
    ) -> Result<Option<Attempt<'_>>, Throttled> {
        let token = match token {
            Ok(token) => self.fingerprints.of(token.expose()),
            Err(Refusal::Missing) => return Ok(None),
            Err(_) => return self.take_unknown(client).await.map(|_| None),
        };
        let is_known = self.known.get(&token).is_some();
        let taken = if is_known { None } else { self.take_unknown(client).await? };
        Ok(Some(Attempt { limits: self, token, is_known, taken }))
    }

    async fn take_unknown(&self, client: ClientAddress) -> Result<Option<(IpAddr, u64)>, Throttled> {
        let address = client.counted();
        match self.limiter.take(RateLimitKey::UnknownTokens(address)).await {
            Taken::Granted { window, .. } => Ok(Some((address, window))),
            Taken::Refused { resets_in } => Err(self.policy.refusal(resets_in)),
            Taken::Uncounted => Ok(None),
        }
    }
}

impl Counted<'_> {
    /// Gives the request back if it `is_free`; otherwise adds the rate-limit headers to a successful response.
    pub(crate) async fn settle(self, response: &mut Response<Bytes>, is_free: bool) {
        if is_free {
            self.limiter.give_back(self.key, self.window).await;
        } else if response.status().is_success() {
            self.fields.insert_into(response.headers_mut());
        }
    }
}

impl Attempt<'_> {
    /// Gives the attempt back unless the token was refused. `is_accepted` is `None` if the lookup failed: the client is not
    /// charged for an internal failure.
    pub(crate) async fn settle(self, is_accepted: Option<bool>) {
        let Self { limits, token, is_known, taken } = self;
        match is_accepted {
            Some(false) if is_known => drop(limits.known.remove(&token)),
            Some(false) => return,
            Some(true) if !is_known => limits.known.insert(token, ()),
            _ => {}
        }
        if let Some((address, window)) = taken {
            limits.limiter.give_back(RateLimitKey::UnknownTokens(address), window).await;
        }
    }
}

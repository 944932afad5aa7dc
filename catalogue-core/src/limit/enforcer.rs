//! [`Enforcer`]: applies the rate limiter to requests and to unknown tokens.

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use quick_cache::sync::Cache;

use super::client_address::ClientAddress;
use super::fields::{Fields, Policy, Throttled};
use super::limiter::{Acquired, RateLimitKey, RateLimiter};
use super::windows::{Fingerprint, Fingerprints};
use crate::auth::{BearerToken, Refusal};
use crate::model::Identity;

/// Maximum number of tokens that are remembered.
const KNOWN_TOKENS: usize = 1 << 16;

/// A rate limiter, and the accepted tokens that it does not count as unknown.
#[derive(Debug)]
pub(crate) struct Enforcer {
    limiter: Arc<dyn RateLimiter>,
    policy: Policy,
    /// Tokens that were accepted and not refused since, at most [`KNOWN_TOKENS`]. They are looked up like any token, but
    /// not counted as unknown first.
    known_tokens: Cache<Fingerprint, ()>,
    fingerprints: Fingerprints,
}

/// A request that was counted and has no response yet.
#[derive(Debug)]
#[must_use = "call `finish` to add the rate-limit headers or refund the request"]
pub(crate) struct Charge<'l> {
    limiter: &'l dyn RateLimiter,
    key: RateLimitKey<'l>,
    window: u64,
    fields: Fields,
}

/// A token from a client with a known address, before the token is looked up.
#[derive(Debug)]
#[must_use = "call `finish` to refund an accepted token"]
pub(crate) struct TokenAttempt<'l> {
    enforcer: &'l Enforcer,
    token: Fingerprint,
    /// Whether the token was accepted recently.
    is_known: bool,
    /// Address and window in which the unknown token was counted; `None` if it was not counted.
    acquired: Option<(IpAddr, u64)>,
}

impl Enforcer {
    pub(crate) fn new(limiter: Arc<dyn RateLimiter>) -> Self {
        let policy = Policy::of(limiter.limit());
        Self { limiter, policy, known_tokens: Cache::new(KNOWN_TOKENS), fingerprints: Fingerprints::default() }
    }

    /// Counts a request of `caller`, or refuses it.
    pub(crate) async fn charge<'l>(&'l self, caller: &'l Identity) -> Result<Option<Charge<'l>>, Throttled> {
        let key = RateLimitKey::Credential(caller);
        match self.limiter.acquire(key).await {
            Acquired::Granted { remaining, resets_in, window } => {
                let fields = self.policy.with(remaining, resets_in);
                Ok(Some(Charge { limiter: &*self.limiter, key, window, fields }))
            }
            Acquired::Limited { resets_in } => Err(self.policy.refusal(resets_in)),
            Acquired::Uncounted => Ok(None),
        }
    }

    /// Counts an unknown token against the client's address, before it is looked up, or refuses it. A malformed token
    /// counts as well, but is never refunded; a missing one does not count. For both, returns `None`.
    pub(crate) async fn attempt(
        &self,
        token: Result<BearerToken<'_>, Refusal>,
        client: ClientAddress,
    ) -> Result<Option<TokenAttempt<'_>>, Throttled> {
        let token = match token {
            Ok(token) => self.fingerprints.of(token.expose()),
            Err(Refusal::Missing) => return Ok(None),
            Err(_) => return self.acquire_unknown(client).await.map(|_| None),
        };
        let is_known = self.known_tokens.get(&token).is_some();
        let acquired = if is_known { None } else { self.acquire_unknown(client).await? };
        Ok(Some(TokenAttempt { enforcer: self, token, is_known, acquired }))
    }

    async fn acquire_unknown(&self, client: ClientAddress) -> Result<Option<(IpAddr, u64)>, Throttled> {
        let address = client.rate_limit_address();
        match self.limiter.acquire(RateLimitKey::UnknownTokens(address)).await {
            Acquired::Granted { window, .. } => Ok(Some((address, window))),
            Acquired::Limited { resets_in } => Err(self.policy.refusal(resets_in)),
            Acquired::Uncounted => Ok(None),
        }
    }
}

impl Charge<'_> {
    /// Refunds the request if it `is_refundable`; otherwise adds the rate-limit headers to a successful response.
    pub(crate) async fn finish(self, response: &mut Response<Bytes>, is_refundable: bool) {
        if is_refundable {
            self.limiter.refund(self.key, self.window).await;
        } else if response.status().is_success() {
            self.fields.insert_into(response.headers_mut());
        }
    }
}

impl TokenAttempt<'_> {
    /// Refunds the attempt unless the token was refused, and updates the known tokens. `is_accepted` is `None` if the lookup
    /// failed: the client is not charged for an internal failure.
    pub(crate) async fn finish(self, is_accepted: Option<bool>) {
        let Self { enforcer, token, is_known, acquired } = self;
        match is_accepted {
            Some(false) if is_known => drop(enforcer.known_tokens.remove(&token)),
            Some(false) => return,
            Some(true) if !is_known => enforcer.known_tokens.insert(token, ()),
            _ => {}
        }
        if let Some((address, window)) = acquired {
            enforcer.limiter.refund(RateLimitKey::UnknownTokens(address), window).await;
        }
    }
}

//! [`RedisRateLimiter`]: a rate limit that several processes share through Redis.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use catalogue_core::async_trait;
use catalogue_core::limit::{Acquired, RateLimit, RateLimitKey, RateLimiter};

use crate::address::RedisAddress;
use crate::store::{RedisUnavailable, Store};

/// Rate limiter that counts in Redis, with a round trip for each `acquire` and `refund`. Most requests acquire once; a 304
/// that needed no rendering also refunds. If a valid token is new to this process, its request first acquires and refunds
/// for the client's address, if known. While Redis is unavailable, requests pass uncounted. Clones share a connection.
#[derive(Clone, Debug)]
pub struct RedisRateLimiter {
    limit: RateLimit,
    store: Arc<Store>,
}

impl RedisRateLimiter {
    /// Creates a limiter that counts at `address`. Does not connect yet.
    #[must_use]
    pub fn new(limit: RateLimit, address: RedisAddress) -> Self {
        Self { limit, store: Store::new(address) }
    }

    /// Checks whether Redis counts requests now.
    ///
    /// # Errors
    /// Returns [`RedisUnavailable`] if Redis does not count, with a hint if one is known.
    pub async fn check(&self) -> Result<(), RedisUnavailable> {
        self.store.check().await
    }

    /// Queries Redis before the first request does, so that an outage is logged immediately.
    pub async fn probe(&self) {
        self.store.probe().await;
    }

    /// Returns the counter of calls of `acquire` that returned [`Acquired::Uncounted`], since this limiter was created.
    #[must_use]
    pub fn uncounted(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.store.uncounted)
    }

    /// Returns the Redis key of the windows of `key` under this limit; `None` for a kind that this crate does not know.
    fn window_key(&self, key: RateLimitKey<'_>) -> Option<String> {
        let (requests, seconds) = (self.limit.requests(), self.limit.window().as_secs());
        Some(match key {
            RateLimitKey::Credential(caller) => {
                let (account, kind, id) = (caller.account.as_str(), caller.kind.name(), caller.rate_limit_subject());
                // The account's length distinguishes the account `a:b` with the id `c` from the account `a` with the id `b:c`.
                format!("catalogue:{requests}/{seconds}:{kind}:{}:{account}:{id}", account.len())
            }
            RateLimitKey::UnknownTokens(address) => format!("catalogue:{requests}/{seconds}:address:{address}"),
            RateLimitKey::SignIn(address) => format!("catalogue:{requests}/{seconds}:sign-in:{address}"),
            RateLimitKey::Change(account) => format!("catalogue:{requests}/{seconds}:change:{account}"),
            _ => return None,
        })
    }
}

/// Writes the address of Redis without secrets.
impl fmt::Display for RedisRateLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.address.fmt(f)
    }
}

#[async_trait]
impl RateLimiter for RedisRateLimiter {
    fn limit(&self) -> RateLimit {
        self.limit
    }

    async fn acquire(&self, key: RateLimitKey<'_>) -> Acquired {
        let reply = match self.window_key(key) {
            Some(window_key) => self.store.acquire(window_key, self.limit.requests(), self.limit.window()).await,
            None => None,
        };
        let Some((granted, remaining, milliseconds, window)) = reply else {
            self.store.uncounted.fetch_add(1, Ordering::Relaxed);
            return Acquired::Uncounted;
        };
        let resets_in = Duration::from_millis(milliseconds);
        if granted { Acquired::Granted { remaining, resets_in, window } } else { Acquired::Limited { resets_in } }
    }

    async fn refund(&self, key: RateLimitKey<'_>, window: u64) {
        if let Some(window_key) = self.window_key(key) {
            self.store.refund(window_key, window).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use catalogue_core::AccountId;
    use catalogue_core::auth::{Identity, Issued, NewToken, Scopes};

    use super::*;

    #[test]
    fn each_credential_has_its_own_window_key() {
        let limit = RateLimit::new(600, Duration::from_secs(60)).unwrap();
        let limiter = RedisRateLimiter::new(limit, RedisAddress::parse("redis://127.0.0.1").unwrap());
        let window_key = |account, id| {
            let identity = Identity::api_key(AccountId::new(account), id, Scopes::default());
            limiter.window_key(RateLimitKey::Credential(&identity)).unwrap()
        };
        assert_eq!(window_key("acc", "key_1"), "catalogue:600/60:api-key:3:acc:key_1");
        assert_ne!(window_key("a:b", "c"), window_key("a", "b:c"));
        // A client of an issuer has one key in Redis for all its tokens (decision O20).
        let signed = || {
            let digest = NewToken::mint(catalogue_core::auth::CredentialKind::OAuth).digest();
            let issued = Issued::new("https://id.example.com", Some("partner".into()));
            let identity = Identity::issued(AccountId::new("acc"), &digest, Scopes::default(), issued);
            limiter.window_key(RateLimitKey::Credential(&identity)).unwrap()
        };
        assert_eq!(signed(), signed());
        assert!(signed().starts_with("catalogue:600/60:oauth:3:acc:client:"));
    }
}

//! [`LocalRateLimiter`]: counts in the memory of this process.

use std::fmt;
use std::time::Instant;

use async_trait::async_trait;

use super::limiter::{Acquired, RateLimitKey, RateLimiter};
use super::rate_limit::RateLimit;
use super::windows::{BUCKETS, Fingerprints, Windows};

/// Rate limiter in this process, in bounded memory: 2 MiB at first and at most 34 MiB, however many clients there are.
///
/// There is room for half a million unexpired windows of credentials and accounts, and as many of addresses. As it fills up,
/// the least used windows are evicted before their end. Addresses have separate memory and never evict a credential.
///
/// [`ClientAddress`](crate::limit::ClientAddress) has an example.
pub struct LocalRateLimiter {
    limit: RateLimit,
    credentials: Windows,
    addresses: Windows,
    fingerprints: Fingerprints,
    began: Instant,
    clock: Box<dyn Fn() -> Instant + Send + Sync>,
}

impl LocalRateLimiter {
    /// Creates a limiter for `limit`.
    #[must_use]
    pub fn new(limit: RateLimit) -> Self {
        Self::with_clock(limit, Instant::now)
    }

    /// Creates a limiter for `limit` with another clock, for tests that should not wait.
    #[must_use]
    pub fn with_clock(limit: RateLimit, clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        Self {
            limit,
            credentials: Windows::new(limit, BUCKETS),
            addresses: Windows::new(limit, BUCKETS),
            fingerprints: Fingerprints::default(),
            began: clock(),
            clock: Box::new(clock),
        }
    }

    /// Returns the nanoseconds since the limiter was created.
    fn now(&self) -> u64 {
        let since = (self.clock)().saturating_duration_since(self.began);
        u64::try_from(since.as_nanos()).expect("a process does not run for centuries")
    }

    fn windows_for(&self, key: RateLimitKey<'_>) -> (&Windows, u128) {
        match key {
            RateLimitKey::Credential(identity) => {
                let (account, id) = (identity.account.as_str(), identity.rate_limit_subject());
                (&self.credentials, self.fingerprints.of((account, identity.kind, id)))
            }
            RateLimitKey::UnknownTokens(address) => (&self.addresses, self.fingerprints.of(address)),
            RateLimitKey::SignIn(address) => (&self.addresses, self.fingerprints.of(("sign-in", address))),
            RateLimitKey::Change(account) => (&self.credentials, self.fingerprints.of(("change", account.as_str()))),
        }
    }
}

#[async_trait]
impl RateLimiter for LocalRateLimiter {
    fn limit(&self) -> RateLimit {
        self.limit
    }

    async fn acquire(&self, key: RateLimitKey<'_>) -> Acquired {
        let (windows, key) = self.windows_for(key);
        windows.acquire(key, self.now())
    }

    async fn refund(&self, key: RateLimitKey<'_>, window: u64) {
        let (windows, key) = self.windows_for(key);
        windows.refund(key, window);
    }
}

impl fmt::Debug for LocalRateLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalRateLimiter").field("limit", &self.limit).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::model::AccountId;

    #[tokio::test]
    async fn keys_have_independent_allowances() {
        let limiter = LocalRateLimiter::new(RateLimit::new(1, Duration::from_secs(60)).unwrap());
        let (address, other) = ([192, 0, 2, 1].into(), [192, 0, 2, 2].into());
        let (anna, bert) = (AccountId::new("anna"), AccountId::new("bert"));
        let keys = [
            RateLimitKey::UnknownTokens(address),
            RateLimitKey::SignIn(address),
            RateLimitKey::SignIn(other),
            RateLimitKey::Change(&anna),
            RateLimitKey::Change(&bert),
        ];
        for key in keys {
            assert!(matches!(limiter.acquire(key).await, Acquired::Granted { .. }), "{key:?}");
        }
        for key in keys {
            assert!(matches!(limiter.acquire(key).await, Acquired::Limited { .. }), "{key:?}");
        }
    }
}

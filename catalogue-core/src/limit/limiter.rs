//! [`RateLimiter`]: counts requests against a limit.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use async_trait::async_trait;
use auto_impl::auto_impl;

use super::rate_limit::RateLimit;
use crate::model::{AccountId, Identity};

/// Counter of requests against a limit (decision A2).
///
/// # Contract
/// - Each key has its own windows and its own allowance: requests of one key do not affect another.
/// - A window grants at most the limit, at least what [`acquire`](Self::acquire) returns as remaining, and after its end the
///   whole limit again: clients receive these numbers.
/// - A refunded request no longer counts. A refund after the end of its window changes nothing.
/// - An unreachable counter must not cause a refusal: return [`Acquired::Uncounted`], and soon.
/// - Calls may run concurrently. Their futures may be dropped before they finish; what was taken may then stay taken.
///
/// [`LocalRateLimiter`](crate::limit::LocalRateLimiter) counts in this process.
#[async_trait]
#[auto_impl(Arc, Box)]
pub trait RateLimiter: fmt::Debug + Send + Sync + 'static {
    /// Returns the limit of every key. It never changes.
    fn limit(&self) -> RateLimit;

    /// Takes one request from the allowance of `key`. Signature: `async fn acquire(&self, key: RateLimitKey<'_>) -> Acquired`
    async fn acquire(&self, key: RateLimitKey<'_>) -> Acquired;

    /// Refunds one request of `key` in `window`, as [`Acquired::Granted`] returned it.
    /// Signature: `async fn refund(&self, key: RateLimitKey<'_>, window: u64)`
    async fn refund(&self, key: RateLimitKey<'_>, window: u64);
}

/// Holder of an allowance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RateLimitKey<'r> {
    /// The credential of this identity, distinguished by its account, its kind and [`Identity::rate_limit_subject`]. Requests
    /// count if the credential's scopes and the parameters are accepted.
    Credential(&'r Identity),
    /// A client's address, whose unknown tokens count. The last 64 bits of an IPv6 address are zero.
    UnknownTokens(IpAddr),
    /// A client's address, whose attempts to sign in to the developer settings count. The last 64 bits of an IPv6 address
    /// are zero.
    SignIn(IpAddr),
    /// An account, whose changes in the developer settings count.
    Change(&'r AccountId),
}

/// Result of taking a request from an allowance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Acquired {
    /// The allowance had a request left, which was taken: the request continues.
    Granted {
        /// Number of requests left in this window.
        remaining: u32,
        /// Time until the window ends; at most the limit's window.
        resets_in: Duration,
        /// Distinguishes this window of the key from all others, for [`RateLimiter::refund`].
        window: u64,
    },
    /// No request is left in this window.
    Limited {
        /// Time until the window ends.
        resets_in: Duration,
    },
    /// The request cannot be counted now. It continues, and its response has no rate-limit headers.
    Uncounted,
}

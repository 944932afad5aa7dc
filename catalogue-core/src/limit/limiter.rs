//! [`RateLimiter`]: takes one, gives one back.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use async_trait::async_trait;
use auto_impl::auto_impl;

use super::rate_limit::RateLimit;
use crate::model::{AccountId, Identity};

/// Counts requests against a limit (decision A2).
///
/// # Contract
/// - Each key has windows and an allowance of its own: what one key takes changes nothing for another.
/// - In one window no more are granted than the limit has, at least what [`take`](Self::take) says remains, and after its
///   end all of them again: clients are told so.
/// - What was given back no longer counts. After its window giving back changes nothing.
/// - A counter out of reach is no reason to refuse: the answer is [`Taken::Uncounted`], and it comes soon.
/// - Calls may run at the same time. Their futures may be dropped before they finish; what was taken may then stay taken.
///
/// [`LocalRateLimiter`](crate::limit::LocalRateLimiter) counts in this process.
#[async_trait]
#[auto_impl(Arc, Box)]
pub trait RateLimiter: fmt::Debug + Send + Sync + 'static {
    /// The limit of every key. It stays the same.
    fn limit(&self) -> RateLimit;

    /// Takes one request from the allowance of `key`.
    async fn take(&self, key: RateLimitKey<'_>) -> Taken;

    /// Gives back what `key` took in the window that [`Taken::Granted`] named.
    async fn give_back(&self, key: RateLimitKey<'_>, window: u64);
}

/// Who has an allowance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RateLimitKey<'r> {
    /// The credential of this identity, known by its account, its kind and [`Identity::counted_as`]. Every request that it
    /// may make counts.
    Credential(&'r Identity),
    /// A client's address, whose unknown tokens count. Of an IPv6 address the last 64 bits are zero.
    UnknownTokens(IpAddr),
    /// A client's address, whose attempts to sign in to the developer settings count. Of an IPv6 address the last 64 bits
    /// are zero.
    SignIn(IpAddr),
    /// An account, whose changes in the developer settings count.
    Change(&'r AccountId),
}

/// Whether a request was within its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Taken {
    /// One was taken, and the request goes on.
    Granted {
        /// How many are left in this window.
        remaining: u32,
        /// When the window ends, from now on. Not longer than the limit's window.
        resets_in: Duration,
        /// What tells this window of the key from every other one, for [`RateLimiter::give_back`].
        window: u64,
    },
    /// None is left in this window.
    Refused {
        /// When the window ends, from now on.
        resets_in: Duration,
    },
    /// It cannot be counted now. The request goes on, and its answer says nothing of a limit.
    Uncounted,
}

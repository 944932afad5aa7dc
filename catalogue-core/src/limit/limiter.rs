//! [`RateLimiter`]: takes one, gives one back.

use std::fmt;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

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
pub trait RateLimiter: fmt::Debug + Send + Sync + 'static {
    /// The limit of every key. It stays the same.
    fn limit(&self) -> RateLimit;

    /// Takes one request from the allowance of `key`.
    fn take<'l>(&'l self, key: RateLimitKey<'l>) -> LimiterFuture<'l, Taken>;

    /// Gives back what `key` took in the window that [`Taken::Granted`] named.
    fn give_back<'l>(&'l self, key: RateLimitKey<'l>, window: u64) -> LimiterFuture<'l, ()>;
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

/// What a [`RateLimiter`] answers: a future that allocates nothing when the answer is ready.
#[must_use = "futures do nothing unless polled"]
pub struct LimiterFuture<'l, T>(State<'l, T>);

enum State<'l, T> {
    Now(Option<T>),
    Later(Pin<Box<dyn Future<Output = T> + Send + 'l>>),
}

impl<'l, T> LimiterFuture<'l, T> {
    /// An answer that is ready.
    pub fn now(answer: T) -> Self {
        Self(State::Now(Some(answer)))
    }

    /// An answer that must be waited for.
    pub fn later(answer: impl Future<Output = T> + Send + 'l) -> Self {
        Self(State::Later(Box::pin(answer)))
    }
}

// An answer that is there is not pinned.
impl<T> Unpin for LimiterFuture<'_, T> {}

impl<T> Future for LimiterFuture<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        match &mut self.0 {
            State::Now(answer) => Poll::Ready(answer.take().expect("a future is not polled after its end")),
            State::Later(answer) => answer.as_mut().poll(context),
        }
    }
}

impl<T> fmt::Debug for LimiterFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimiterFuture").finish_non_exhaustive()
    }
}

macro_rules! rate_limiter_behind {
    ($($pointer:ident)*) => {$(
        #[deny(clippy::missing_trait_methods)] // a later default method must not be lost here
        impl<T: RateLimiter + ?Sized> RateLimiter for $pointer<T> {
            fn limit(&self) -> RateLimit {
                (**self).limit()
            }

            fn take<'l>(&'l self, key: RateLimitKey<'l>) -> LimiterFuture<'l, Taken> {
                (**self).take(key)
            }

            fn give_back<'l>(&'l self, key: RateLimitKey<'l>, window: u64) -> LimiterFuture<'l, ()> {
                (**self).give_back(key, window)
            }
        }
    )*};
}
rate_limiter_behind! { Arc Box }

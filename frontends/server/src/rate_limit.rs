//! [`RateLimiting`]: the configured rate limit, and the limiter that counts requests.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use catalogue_core::limit::{LocalRateLimiter, RateLimit, RateLimiter};
#[cfg(feature = "redis")]
use catalogue_redis::RedisRateLimiter;

use crate::units;

/// Address of a store whose counts several servers share.
#[cfg(feature = "redis")]
pub(crate) use catalogue_redis::RedisAddress as StoreAddress;

/// Placeholder: a build without Redis has no store.
#[cfg(not(feature = "redis"))]
pub(crate) use std::convert::Infallible as StoreAddress;

#[cfg(feature = "redis")]
pub(crate) fn store_address(text: &str) -> Result<StoreAddress, String> {
    StoreAddress::parse(text).map_err(|error| error.to_string())
}

#[cfg(not(feature = "redis"))]
pub(crate) fn store_address(_: &str) -> Result<StoreAddress, String> {
    Err("this build lacks Redis; build with the feature redis, or let each server count separately".to_owned())
}

/// Hint on the format of a limit.
pub(crate) const HINT: &str = "use a number of requests and a duration, like 600/1m";

/// The configured rate limit, if any.
#[derive(Clone, Debug, Default)]
pub(crate) struct RateLimiting {
    /// The rate limiter, or `None` if rate limiting is off.
    pub(crate) limiter: Option<Arc<dyn RateLimiter>>,
    /// Number of requests that passed uncounted, because the store was unreachable.
    pub(crate) uncounted: Arc<AtomicU64>,
    /// The limit, as the log shows it.
    display: Option<String>,
    #[cfg(feature = "redis")]
    store: Option<RedisRateLimiter>,
}

impl RateLimiting {
    /// Creates a limit that is counted in `store`, or else by this server. The log shows it as `display`.
    pub(crate) fn new(limit: RateLimit, display: String, store: Option<StoreAddress>) -> Self {
        #[cfg(feature = "redis")]
        if let Some(store) = store {
            let store = RedisRateLimiter::new(limit, store);
            return Self {
                limiter: Some(Arc::new(store.clone())),
                uncounted: store.uncounted(),
                display: Some(format!("{display} in {store}")),
                store: Some(store),
            };
        }
        #[cfg(not(feature = "redis"))]
        let None = store;
        Self { limiter: Some(Arc::new(LocalRateLimiter::new(limit))), display: Some(display), ..Self::default() }
    }

    /// Checks whether the store counts. The error contains the reason and a remedy. `None` without a store.
    pub(crate) async fn check_store(&self) -> Option<Result<(), String>> {
        #[cfg(feature = "redis")]
        if let Some(store) = &self.store {
            return Some(store.check().await.map_err(|error| error.to_string()));
        }
        None
    }

    /// Logs immediately, rather than at the first request, if the store does not count.
    pub(crate) async fn log_store_status(&self) {
        #[cfg(feature = "redis")]
        if let Some(store) = &self.store {
            store.probe().await;
        }
    }
}

impl fmt::Display for RateLimiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.display.as_deref().unwrap_or("none"))
    }
}

/// Parses a limit such as `600/1m`.
pub(crate) fn parse(text: &str) -> Result<RateLimit, String> {
    let invalid = || format!("invalid rate limit {text:?}; {HINT}");
    let (requests, window) = text.split_once('/').ok_or_else(invalid)?;
    if requests.is_empty() || !requests.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(invalid());
    }
    // The only error left is a number that does not fit into 32 bits.
    let requests = requests.parse().map_err(|_| format!("the rate limit {text:?} is too large; {HINT}"))?;
    let window = units::duration(window).map_err(|error| format!("invalid rate limit {text:?}: {error}"))?;
    RateLimit::new(requests, window).map_err(|error| format!("invalid rate limit {text:?}: {error}"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn valid_rate_limits_are_parsed() {
        for (text, requests, seconds) in
            [("600/1m", 600, 60), ("1/1s", 1, 1), ("007/2h", 7, 7_200), ("4294967295/1d", u32::MAX, 86_400)]
        {
            assert_eq!(parse(text), Ok(RateLimit::new(requests, Duration::from_secs(seconds)).unwrap()), "{text}");
        }
    }

    #[test]
    fn invalid_rate_limits_are_refused_with_reason() {
        for (text, piece) in [
            ("", "like 600/1m"),
            ("600", "like 600/1m"),
            ("/1m", "like 600/1m"),
            ("-1/1m", "like 600/1m"),
            ("1.5/1m", "like 600/1m"),
            ("a/1m", "like 600/1m"),
            ("600/", "like 90d"),
            ("600/m", "like 90d"),
            ("600/1", "like 90d"),
            ("600/1m/1", "like 90d"),
            ("0/1m", "use at least 1"),
            ("600/0s", "use whole seconds from 1"),
            ("600/50000d", "from 1 to 4294967295"),
            ("4294967296/1m", "the rate limit \"4294967296/1m\" is too large"),
            ("1/99999999999999999999s", "the duration \"99999999999999999999s\" is too large"),
        ] {
            let message = parse(text).unwrap_err();
            assert!(message.contains(piece) && message.contains(&format!("{text:?}")), "{text}: {message}");
        }
    }
}

//! [`RateLimiting`]: the rate limit that was asked for, and who counts.

#[cfg(feature = "redis")]
mod outage;
#[cfg(feature = "redis")]
mod shared;
#[cfg(feature = "redis")]
mod store;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use catalogue_core::{LocalRateLimiter, RateLimit, RateLimiter};

use crate::config::{Layers, Setting, Sourced};
use crate::duration;
use crate::exit::Failure;

const RIGHT: &str = "write a number of requests and a time, like 600/1m";

/// The rate limit that was asked for, if any.
#[derive(Clone, Debug, Default)]
pub(crate) struct RateLimiting(Option<Limiting>);

#[derive(Clone, Debug)]
struct Limiting {
    limiter: Arc<dyn RateLimiter>,
    /// For the log.
    shown: String,
    /// Requests that a store out of reach did not count.
    uncounted: Arc<AtomicU64>,
    #[cfg(feature = "redis")]
    store: Option<shared::SharedRateLimiter>,
}

impl RateLimiting {
    /// What the layers say.
    pub(crate) fn named(layers: &Layers, limit: Option<String>, store: Option<String>) -> Result<Self, Failure> {
        let limit = layers.text(Setting::RateLimit, limit)?;
        let store = layers.text(Setting::RateLimitStore, store)?;
        // First, so that it is told where there is no limit either.
        #[cfg(feature = "redis")]
        store.clone().map(|store| store.parse(|address| shared::client(address))).transpose()?;
        let Some(limit) = limit else {
            let idle = |store: Sourced<String>| store.wrong(&format!("there is no --rate-limit to count; {RIGHT}"));
            return store.map_or(Ok(Self::default()), |store| Err(idle(store)));
        };
        let shown = limit.value.clone();
        let limit = limit.parse(|text| parse(text))?;
        let limiting = match store {
            None => Limiting {
                limiter: Arc::new(LocalRateLimiter::new(limit)),
                shown,
                uncounted: Arc::default(),
                #[cfg(feature = "redis")]
                store: None,
            },
            Some(store) => store.parse(|address| shared(limit, &shown, address))?,
        };
        Ok(Self(Some(limiting)))
    }

    /// Who counts; `None` where nothing is limited.
    pub(crate) fn limiter(&self) -> Option<Arc<dyn RateLimiter>> {
        self.0.as_ref().map(|limiting| Arc::clone(&limiting.limiter))
    }

    /// How many requests went on without being counted, as the store was out of reach; none where nothing is limited.
    pub(crate) fn uncounted(&self) -> Arc<AtomicU64> {
        self.0.as_ref().map(|limiting| Arc::clone(&limiting.uncounted)).unwrap_or_default()
    }

    /// Whether the store counts, or why it does not and what would help; `None` where there is none.
    #[cfg(feature = "redis")]
    pub(crate) async fn check_store(&self) -> Option<Result<(), String>> {
        let store = self.0.as_ref()?.store.as_ref()?;
        Some(store.check().await.map_err(|silence| match silence.advice() {
            Some(advice) => format!("{silence}; {advice}"),
            None => silence.to_string(),
        }))
    }

    /// Tells the log at once, and not at the first request, where the store does not count.
    pub(crate) async fn look_at_store(&self) {
        #[cfg(feature = "redis")]
        if let Some(store) = self.0.as_ref().and_then(|limiting| limiting.store.as_ref()) {
            store.look().await;
        }
    }

    /// No build without Redis has one.
    #[cfg(not(feature = "redis"))]
    pub(crate) async fn check_store(&self) -> Option<Result<(), String>> {
        None
    }
}

impl fmt::Display for RateLimiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_ref().map_or("none", |limiting| &limiting.shown))
    }
}

/// Reads a limit such as `600/1m`.
fn parse(text: &str) -> Result<RateLimit, String> {
    let wrong = || format!("{text:?} is not a rate limit; {RIGHT}");
    let (requests, window) = text.split_once('/').ok_or_else(wrong)?;
    if requests.is_empty() || !requests.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(wrong());
    }
    // What is left to go wrong is a number that does not fit.
    let requests = requests.parse().map_err(|_| format!("{text:?} is more than can be counted; {RIGHT}"))?;
    let window = duration::parse(window).map_err(|error| format!("{text:?} is not a rate limit: {error}"))?;
    RateLimit::new(requests, window).map_err(|error| format!("{text:?}: {error}"))
}

#[cfg(feature = "redis")]
fn shared(limit: RateLimit, shown: &str, address: &str) -> Result<Limiting, String> {
    let limiter = shared::SharedRateLimiter::at(address, limit)?;
    let shown = format!("{shown} in {limiter}");
    let uncounted = limiter.uncounted();
    Ok(Limiting { limiter: Arc::new(limiter.clone()), shown, uncounted, store: Some(limiter) })
}

#[cfg(not(feature = "redis"))]
fn shared(_: RateLimit, _: &str, _: &str) -> Result<Limiting, String> {
    Err("this build has no Redis; leave the store out, and each server counts by itself".to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn requests_in_a_time() {
        for (text, requests, seconds) in
            [("600/1m", 600, 60), ("1/1s", 1, 1), ("007/2h", 7, 7_200), ("4294967295/1d", u32::MAX, 86_400)]
        {
            assert_eq!(parse(text), Ok(RateLimit::new(requests, Duration::from_secs(seconds)).unwrap()), "{text}");
        }
    }

    #[test]
    fn refuses_all_else_and_says_what_is_wrong() {
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
            ("0/1m", "allow 1 at least"),
            ("600/0s", "1 at least"),
            ("600/50000d", "4294967295 at most"),
            ("4294967296/1m", "more than can be counted"),
            ("1/99999999999999999999s", "longer than can be counted"),
        ] {
            let message = parse(text).unwrap_err();
            assert!(message.contains(piece) && message.contains(&format!("{text:?}")), "{text}: {message}");
        }
    }
}

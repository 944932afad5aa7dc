//! [`RateLimit`]: a number of requests in a window of time.

use std::time::Duration;

/// A number of requests in each window of whole seconds.
///
/// A window begins with the first request after the previous window, and has the whole allowance. So any period as long as
/// a window has at most twice the limit, as with a token bucket that holds the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RateLimit {
    requests: u32,
    seconds: u32,
}

/// Reason why numbers are not a valid [`RateLimit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidRateLimit {
    /// The limit is 0.
    #[error("invalid rate limit of 0 requests; use at least 1")]
    NoRequest,
    /// The window is not in whole seconds, which is the unit of the response headers, or is out of bounds.
    #[error("invalid rate-limit window; use whole seconds from 1 to {}", u32::MAX)]
    Window,
}

impl RateLimit {
    /// Creates a limit of `requests` in each `window`.
    ///
    /// # Errors
    /// Returns an error if `requests` is 0, or `window` is not a whole number of seconds from 1 to [`u32::MAX`].
    pub fn new(requests: u32, window: Duration) -> Result<Self, InvalidRateLimit> {
        if requests == 0 {
            return Err(InvalidRateLimit::NoRequest);
        }
        match u32::try_from(window.as_secs()) {
            Ok(seconds) if seconds > 0 && window.subsec_nanos() == 0 => Ok(Self { requests, seconds }),
            _ => Err(InvalidRateLimit::Window),
        }
    }

    /// Returns the number of requests in each window.
    #[must_use]
    pub const fn requests(self) -> u32 {
        self.requests
    }

    /// Returns the length of a window.
    #[must_use]
    pub const fn window(self) -> Duration {
        Duration::from_secs(self.seconds as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_must_allow_at_least_one_request() {
        let limit = RateLimit::new(600, Duration::from_secs(60)).unwrap();
        assert_eq!((limit.requests(), limit.window()), (600, Duration::from_secs(60)));
        assert_eq!(RateLimit::new(0, Duration::from_secs(60)), Err(InvalidRateLimit::NoRequest));
    }

    #[test]
    fn window_must_be_whole_seconds() {
        let of = |window| RateLimit::new(1, window);
        for right in [1, 60, u64::from(u32::MAX)] {
            assert_eq!(of(Duration::from_secs(right)).unwrap().window().as_secs(), right);
        }
        for wrong in [Duration::ZERO, Duration::from_millis(1_500), Duration::from_secs(1 << 32), Duration::MAX] {
            assert_eq!(of(wrong), Err(InvalidRateLimit::Window), "{wrong:?}");
        }
    }
}

//! `RateLimit-Policy` and `RateLimit`, as in revision 10 of draft-ietf-httpapi-ratelimit-headers.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};

use super::rate_limit::RateLimit;

const RATELIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const RATELIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// Header values of one response: the quota `q` in each window of `w` seconds, and the remaining requests `r` in the next
/// `t` seconds. The draft's partition key is omitted, because a client has only the allowance of its credential.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    policy: HeaderValue,
    state: HeaderValue,
}

/// Reason for a 429.
#[derive(Clone, Debug)]
pub(crate) struct Throttled {
    pub(crate) retry_after_seconds: u32,
    /// `None` if the reason is not a rate limit (decision A21).
    pub(crate) fields: Option<Fields>,
}

/// `RateLimit-Policy` of a limit, rendered once.
#[derive(Clone, Debug)]
pub(super) struct Policy(HeaderValue);

impl Policy {
    pub(super) fn of(limit: RateLimit) -> Self {
        let policy = format!(r#""default";q={};w={}"#, limit.requests(), limit.window().as_secs());
        Self(HeaderValue::try_from(policy).expect("numbers are visible ASCII"))
    }

    /// Returns the header values for a window with `remaining` requests that ends in `resets_in`.
    pub(super) fn with(&self, remaining: u32, resets_in: Duration) -> Fields {
        let state = format!(r#""default";r={remaining};t={}"#, whole_seconds(resets_in));
        Fields { policy: self.0.clone(), state: HeaderValue::try_from(state).expect("numbers are visible ASCII") }
    }

    /// Returns the refusal of a request in a window that ends in `resets_in`, in `Retry-After` and in `RateLimit`.
    pub(super) fn refusal(&self, resets_in: Duration) -> Throttled {
        Throttled { retry_after_seconds: whole_seconds(resets_in), fields: Some(self.with(0, resets_in)) }
    }
}

impl Fields {
    pub(crate) fn insert_into(self, headers: &mut HeaderMap) {
        headers.insert(RATELIMIT_POLICY, self.policy);
        headers.insert(RATELIMIT, self.state);
    }
}

/// Returns examples for the documents: the fields of a first request, and a refusal 13 seconds before a window ends.
pub(crate) fn examples() -> (Fields, Throttled) {
    let limit = RateLimit::new(600, Duration::from_secs(60)).expect("an example is valid");
    let policy = Policy::of(limit);
    (policy.with(599, limit.window()), policy.refusal(Duration::from_secs(13)))
}

/// Rounds up, so that a client that waits this long does not come too early. Never 0, which would mean "immediately".
fn whole_seconds(duration: Duration) -> u32 {
    let seconds = duration.as_secs().saturating_add(u64::from(duration.subsec_nanos() > 0));
    u32::try_from(seconds).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_rounded_up() {
        for (nanoseconds, seconds) in [(0, 1), (1, 1), (1_000_000_000, 1), (1_000_000_001, 2), (59_999_999_999, 60)] {
            assert_eq!(whole_seconds(Duration::from_nanos(nanoseconds)), seconds);
        }
        assert_eq!(whole_seconds(Duration::MAX), u32::MAX);
    }
}

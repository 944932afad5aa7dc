//! Rate limits (decision A2): how many requests a credential may make in a window of time, and how many unknown tokens a
//! client may try. A [`RateLimiter`] counts, also for the developer settings; [`LocalRateLimiter`] counts in this process.

mod client_address;
mod enforcer;
mod fields;
mod limiter;
mod local;
mod rate_limit;
mod windows;

pub use client_address::ClientAddress;
pub(crate) use enforcer::Enforcer;
pub(crate) use fields::{Throttled, examples};
pub use limiter::{Acquired, RateLimitKey, RateLimiter};
pub use local::LocalRateLimiter;
pub use rate_limit::{InvalidRateLimit, RateLimit};

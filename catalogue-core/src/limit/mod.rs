//! Rate limits (decision A2): how many requests a credential may make in a window of time, and how many unknown tokens a
//! client may try. A [`RateLimiter`] counts; [`LocalRateLimiter`] does so in this process.

mod client_address;
mod fields;
mod limiter;
mod local;
mod rate_limit;
mod step;
mod windows;

pub use client_address::ClientAddress;
pub(crate) use fields::{Throttled, examples};
pub use limiter::{RateLimitKey, RateLimiter, Taken};
pub use local::LocalRateLimiter;
pub use rate_limit::{InvalidRateLimit, RateLimit};
pub(crate) use step::Limits;

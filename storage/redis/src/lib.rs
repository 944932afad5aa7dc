#![doc = include_str!("../README.md")]

mod address;
mod limiter;
mod store;

pub use address::{InvalidRedisAddress, RedisAddress};
pub use limiter::RedisRateLimiter;
pub use store::RedisUnavailable;

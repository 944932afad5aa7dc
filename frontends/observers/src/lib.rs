#![doc = include_str!("../README.md")]

#[cfg(feature = "last-uses")]
pub mod last_uses;
#[cfg(feature = "otlp")]
pub mod otlp;
#[cfg(feature = "prometheus")]
pub mod prometheus;

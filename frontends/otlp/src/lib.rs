#![doc = include_str!("../README.md")]

mod collector;
mod export;
mod span;

pub use export::{Site, SpanCounts, SpanExport};

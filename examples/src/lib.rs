//! What the examples share: their options, how they say what went wrong, and when a server stops.

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

mod arguments;
mod failure;
mod serving;

pub use arguments::{Arguments, database};
pub use failure::Failure;
pub use serving::{listen, log, stop_signal};

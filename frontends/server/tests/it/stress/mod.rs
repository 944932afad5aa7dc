//! Stress tests of clock steps, concurrent writers, kills, stops, memory and scarce resources.
//!
//! Run them with `cargo test -p catalogue-server --test it stress -- --ignored --nocapture`.
#![expect(clippy::print_stdout, reason = "a stress test prints what it measured")]

mod clock;
mod freshness;
mod kills;
mod machine;
mod memory;
mod stops;

//! What a machine does to a program, many times over: `cargo test -p catalogue-server --test it stress -- --ignored --nocapture`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a drill prints what it measured")]

mod clock;
mod freshness;
mod kills;
mod machine;
mod memory;
mod stops;

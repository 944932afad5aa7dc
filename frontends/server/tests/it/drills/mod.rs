//! What a machine does to a program, many times over: `cargo test -p catalogue-server --test it drills -- --ignored --nocapture`.

mod kills;
mod machine;
mod memory;
mod stops;

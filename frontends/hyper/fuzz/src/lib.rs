//! What a fuzzer sends to the serving loop, and what must hold of it. Every module is one input, with a function `check` that
//! a fuzz target and the test of the kept inputs call.

pub mod forwarded;

mod server;

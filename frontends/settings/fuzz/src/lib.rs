//! What a fuzzer sends to the developer settings, and what must hold of each answer. Every module is one input, with a
//! function `check` that a fuzz target and the test of the kept inputs call.

pub mod cookie;
pub mod form;
pub mod sign_in;

mod model;
mod world;

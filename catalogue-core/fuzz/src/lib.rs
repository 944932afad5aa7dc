//! What a fuzzer sends to the API, and what must hold of each answer. Every module is one input, with a function `check`
//! that a fuzz target and the test of the kept inputs call.

pub mod accept_encoding;
pub mod call;
pub mod cursor;
pub mod if_none_match;
#[cfg(feature = "oauth")]
pub mod jwt_header;
#[cfg(feature = "oauth")]
pub mod jwt_payload;
#[cfg(feature = "oauth")]
pub mod key_set;
pub mod path;
pub mod query;
pub mod token;
pub mod trace_parent;

mod ask;
mod echo;
#[cfg(feature = "oauth")]
mod signers;

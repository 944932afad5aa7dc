//! The developer settings as `serve` and `demo` mount them, and the commands beside them.

mod bodies;
mod commands;
mod options;
#[cfg(unix)]
mod owner_header;
mod pages;
pub(crate) mod visitor;

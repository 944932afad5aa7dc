//! The developer settings as `serve` and `demo` mount them, and the commands beside them.

mod bodies;
#[cfg(unix)]
pub(crate) mod changes;
mod commands;
mod failing_writes;
mod options;
#[cfg(unix)]
mod owner_header;
mod pages;
pub(crate) mod visitor;

//! Developer settings as mounted by `serve` and `demo`, and the commands `settings` and `keys log`.

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

//! Developer settings as mounted by `serve` and `demo`, and the commands `settings` and `keys log`.

mod bodies;
mod commands;
mod options;
#[cfg(unix)]
mod owner_header;
mod pages;
pub(crate) mod visitor;

//! Settings and their layers: the command line over the environment over the configuration file.

mod fault;
mod file;
mod layers;
mod nearest;
mod secret;
mod setting;
mod stated;

pub(crate) use fault::Fault;
#[cfg(test)]
pub(crate) use file::ConfigFile;
pub(crate) use file::Value;
pub(crate) use layers::{Layers, Sourced};
pub(crate) use nearest::nearest;
pub(crate) use setting::{Setting, Shape};
pub(crate) use stated::Stated;

//! Settings and their layers: the command line over the environment over the configuration file.

mod file;
mod layers;
mod setting;

pub(crate) use layers::{Layers, Sourced};
pub(crate) use setting::{Setting, Shape};

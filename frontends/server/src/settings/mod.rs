//! Settings: their table, and their layers. The command line overrides the environment, which overrides the configuration file.

mod developer;
mod file;
mod layers;
mod reader;
mod secret;
mod serve;
mod setting;
pub(crate) mod table;
mod value;

pub(crate) use developer::{DeveloperOptions, OwnerHeader};
#[cfg(test)]
pub(crate) use file::ConfigFile;
pub(crate) use layers::CommandLine;
pub(crate) use reader::Settings;
pub(crate) use serve::{AboutSettings, ServeSettings, mount_urls};
pub(crate) use setting::{Entry, Fallback, Section, Setting, Shape};

//! `catalogue config`

use clap::{Args, Subcommand};

use super::ServeArguments;

pub(super) const CHECK_EXAMPLE: &str = "\
Example: before a server is restarted
  catalogue config check --config /etc/catalogue/catalogue.toml";

/// `catalogue config`
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Says what is in force for `serve` and where each value comes from, or all that is wrong
    ///
    /// Takes the options of `serve`. Passwords are not shown. Neither the database nor an address is opened.
    #[command(after_help = CHECK_EXAMPLE)]
    Check(Box<CheckConfig>),
    /// Prints a configuration file with every key, its default and what it means, as comments
    #[command(after_help = "\
Example: a file to begin with
  catalogue config example > catalogue.toml")]
    Example,
}

/// `catalogue config check`
#[derive(Debug, Args)]
pub(crate) struct CheckConfig {
    /// Prints one JSON object instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) serve: ServeArguments,
}

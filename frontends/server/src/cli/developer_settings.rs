//! The commands for the developer settings.

use std::time::Duration;

use clap::{Args, Subcommand};

use crate::units;

pub(super) const SETTINGS_EXAMPLE: &str = "\
Example: a link for the owner of an account
  catalogue settings link --account acc_1 \\
    --settings-url https://api.example.com/settings";

/// `catalogue settings`
#[derive(Debug, Subcommand)]
pub(crate) enum SettingsCommand {
    /// Makes a link that signs the owner of an account in once, and prints it
    #[command(after_help = SETTINGS_EXAMPLE)]
    Link(MakeLink),
    /// Ends all links and sessions of an account, from the next request on
    #[command(after_help = "\
Example: after an owner's laptop was stolen
  catalogue settings sign-out --account acc_1")]
    SignOut {
        /// The account
        #[arg(long, value_name = "ID")]
        account: String,
    },
}

/// `catalogue settings link`
#[derive(Debug, Args)]
pub(crate) struct MakeLink {
    /// The account whose owner the link signs in
    #[arg(long, value_name = "ID", display_order = 0)]
    pub(crate) account: String,
    /// How long the link works, like 1h; 7d at most
    #[arg(long, value_name = "DURATION", default_value = "15m", value_parser = |text: &str| units::between(text, ["1s", "7d"]))]
    pub(crate) expires_in: Duration,
    /// Prints one JSON object instead of the link alone
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_lives_as_long_as_links_may() {
        assert_eq!(units::between("7d", ["1s", "7d"]), Ok(catalogue_settings::MAX_LINK_LIFETIME));
    }
}

//! The commands for the developer settings.

use std::time::Duration;

use clap::{Args, Subcommand};

use crate::units;

pub(super) const SETTINGS_EXAMPLE: &str = "\
Example: a sign-in link for an account's owner
  catalogue settings link --account acc_1 \\
    --settings-url https://api.example.com/settings";

/// `catalogue settings`
#[derive(Debug, Subcommand)]
pub(crate) enum SettingsCommand {
    /// Create a link that signs in an account's owner once
    #[command(after_help = SETTINGS_EXAMPLE)]
    Link(MakeLink),
    /// End all links and sessions of an account, from the next request on
    #[command(after_help = "\
Example: after an owner's laptop was stolen
  catalogue settings sign-out --account acc_1")]
    SignOut {
        /// Id of the account
        #[arg(long, value_name = "ID")]
        account: String,
    },
}

/// `catalogue settings link`
#[derive(Debug, Args)]
pub(crate) struct MakeLink {
    /// Id of the account whose owner the link signs in
    #[arg(long, value_name = "ID", display_order = 0)]
    pub(crate) account: String,
    /// Lifetime of the link, like 1h, at most 7d
    #[arg(long, value_name = "DURATION", default_value = "15m", value_parser = |text: &str| units::between(text, ["1s", "7d"]))]
    pub(crate) expires_in: Duration,
    /// Print a JSON object instead of only the link
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_link_lifetime_is_maximum_of_settings() {
        assert_eq!(units::between("7d", ["1s", "7d"]), Ok(catalogue_settings::MAX_LINK_LIFETIME));
    }
}

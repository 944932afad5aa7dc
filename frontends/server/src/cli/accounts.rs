//! The commands for accounts.

use clap::{Args, Subcommand};

pub(super) const ACCOUNTS_EXAMPLE: &str = "\
Example: the accounts, with what each has
  catalogue accounts list";

/// `catalogue accounts`
#[derive(Debug, Subcommand)]
pub(crate) enum AccountsCommand {
    /// Lists the accounts, with the number of courses and of keys that hold
    #[command(after_help = ACCOUNTS_EXAMPLE)]
    List {
        /// Prints one JSON array instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Shows one account
    #[command(after_help = "\
Example: how many courses it has
  catalogue accounts show acc_1")]
    Show {
        /// The account
        id: String,
        /// Prints one JSON object instead of lines
        #[arg(long)]
        json: bool,
    },
    /// Removes an account with its courses, keys and tokens, for good
    Remove(RemoveAccount),
}

/// `catalogue accounts remove`
#[derive(Debug, Args)]
#[command(after_help = "\
All of it goes in one transaction, and its keys are refused from the next
request on. SQLite's file is then written anew, so that no byte of the account
is left in it: for a while that takes up to twice the room of what is left,
once beside the file and once in TMPDIR, and other writers wait. Backups,
exports, logs and PostgreSQL's own log keep what they have.

Example: in a script, where nobody is asked
  catalogue accounts remove acc_1 --yes")]
pub(crate) struct RemoveAccount {
    /// The account
    pub(crate) id: String,
    /// Does not ask, as it does on a terminal; elsewhere nobody can be asked, and it must be given
    #[arg(long)]
    pub(crate) yes: bool,
    /// Prints the numbers as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

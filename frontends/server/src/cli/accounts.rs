//! The commands for accounts.

use clap::{Args, Subcommand};

pub(super) const ACCOUNTS_EXAMPLE: &str = "\
Example: all accounts
  catalogue accounts list";

/// `catalogue accounts`
#[derive(Debug, Subcommand)]
pub(crate) enum AccountsCommand {
    /// List accounts with their numbers of courses and active keys
    #[command(after_help = ACCOUNTS_EXAMPLE)]
    List {
        /// Print a JSON array instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Show an account
    #[command(after_help = "\
Example: the number of courses of an account
  catalogue accounts show acc_1")]
    Show {
        /// Id of the account
        id: String,
        /// Print a JSON object instead of lines
        #[arg(long)]
        json: bool,
    },
    /// Permanently remove an account with its courses, keys and tokens
    Remove(RemoveAccount),
}

/// `catalogue accounts remove`
#[derive(Debug, Args)]
#[command(after_help = "\
One transaction removes everything; the keys are refused from the next request
on. An SQLite file is then rewritten, so that no byte of the account remains.
That blocks other writers, and needs up to the size of the remaining data both
next to the file and in TMPDIR. Backups, exports, logs and PostgreSQL's WAL
are not changed.

Example: in a script, without a confirmation prompt
  catalogue accounts remove acc_1 --yes")]
pub(crate) struct RemoveAccount {
    /// Id of the account
    pub(crate) id: String,
    /// Skip the confirmation prompt; required without a terminal
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print the counts as a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

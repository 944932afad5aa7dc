//! The commands for OAuth tokens.

use clap::Subcommand;

use super::credentials::{Grant, ListKeys};

pub(super) const TOKENS_EXAMPLE: &str = "\
Example: a token valid for an hour
  catalogue tokens create --account acc_1 --scope read:courses \\
    --expires-in 1h";

/// `catalogue tokens`
#[derive(Debug, Subcommand)]
pub(crate) enum TokensCommand {
    /// Create an opaque OAuth token and print it once; only its digest is stored
    #[command(after_help = TOKENS_EXAMPLE)]
    Create(Grant),
    /// List credentials like `keys list`, but only OAuth tokens
    #[command(after_help = "\
Example: OAuth tokens of an account
  catalogue tokens list --account acc_1")]
    List(ListKeys),
    /// Check step by step whether `serve` with these options accepts a signed token
    #[cfg(feature = "oauth")]
    #[command(after_help = "\
Reads the token from standard input, prints neither it nor its signature, and
fetches the issuer's keys.

Example: why a token is refused
  catalogue tokens check --config catalogue.toml < token")]
    Check {
        /// Print a JSON object instead of lines
        #[arg(long)]
        json: bool,
    },
    /// Revoke a signed token on standard input; it is refused from the next request on
    #[cfg(feature = "oauth")]
    #[command(after_help = "\
The token is verified first, with the options of `serve`.

Example: a leaked token
  catalogue tokens revoke --config catalogue.toml < token.txt")]
    Revoke {
        /// Id of the account, which the token must name; the token is then not verified
        #[arg(long, value_name = "ID")]
        account: Option<String>,
    },
}

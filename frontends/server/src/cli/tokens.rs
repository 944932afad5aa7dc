//! The commands for OAuth tokens.

use clap::Subcommand;

use super::credentials::{Grant, ListKeys};

pub(super) const TOKENS_EXAMPLE: &str = "\
Example: a token for an hour
  catalogue tokens create --account acc_1 --scope read:courses \\
    --expires-in 1h";

/// `catalogue tokens`
#[derive(Debug, Subcommand)]
pub(crate) enum TokensCommand {
    /// Creates an opaque OAuth token and prints it once; only its digest is stored
    #[command(after_help = TOKENS_EXAMPLE)]
    Create(Grant),
    /// Lists OAuth tokens as `keys list` does, without the tokens
    #[command(after_help = "\
Example: those of an account
  catalogue tokens list --account acc_1")]
    List(ListKeys),
    /// Says step by step what `serve` with these options says of a signed token
    #[cfg(feature = "oauth")]
    #[command(after_help = "\
The token is read from standard input, and neither it nor its signature is
shown. The issuer's keys are fetched.

Example: why a token is refused
  catalogue tokens check --config catalogue.toml < token")]
    Check {
        /// Prints JSON instead of lines
        #[arg(long)]
        json: bool,
    },
    /// Revokes a signed token on standard input: it is refused from the next request on
    #[cfg(feature = "oauth")]
    #[command(after_help = "\
The token is verified first, with the options of `serve`.

Example: a token that was leaked
  catalogue tokens revoke --config catalogue.toml < token.txt")]
    Revoke {
        /// Whose token it is: the token must name it, and is not verified
        #[arg(long, value_name = "ID")]
        account: Option<String>,
    },
}

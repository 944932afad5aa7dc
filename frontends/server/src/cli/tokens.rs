//! The commands for OAuth tokens.

#[cfg(feature = "oauth")]
use clap::Args;
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
    Check(CheckToken),
    /// Revokes a signed token on standard input: it is refused from the next request on
    #[cfg(feature = "oauth")]
    Revoke(RevokeToken),
}

/// `catalogue tokens revoke`
#[cfg(feature = "oauth")]
#[derive(Debug, Args)]
#[command(after_help = "\
The token is verified first, with the options of `serve`.

Example: a token that was leaked
  catalogue tokens revoke --config catalogue.toml < token.txt")]
pub(crate) struct RevokeToken {
    /// Whose token it is: the token must name it, and is not verified
    #[arg(long, value_name = "ID")]
    pub(crate) account: Option<String>,
}

/// `catalogue tokens check`
#[cfg(feature = "oauth")]
#[derive(Debug, Args)]
#[command(after_help = "\
The token is read from standard input, and neither it nor its signature is
shown. The issuer's keys are fetched.

Example: why a token is refused
  catalogue tokens check --config catalogue.toml < token")]
pub(crate) struct CheckToken {
    /// Prints JSON instead of lines
    #[arg(long)]
    pub(crate) json: bool,
}

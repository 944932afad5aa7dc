//! The commands that find and check leaked tokens.

use clap::Args;

/// `catalogue keys find`
#[derive(Debug, Args)]
#[command(
    override_usage = "catalogue keys find [OPTIONS] <- | --in-text ->",
    after_help = "\
A server writes last uses once a minute. With --in-text, each token is shown
once, by the first line that has it, and never itself; one that no credential
has is unknown.

Example: whose token was leaked, and whose tokens stand in a text
  catalogue keys find - < token.txt
  catalogue keys find --in-text - < paste.txt"
)]
pub(crate) struct FindKey {
    /// Where the token is read: - is standard input
    #[arg(value_name = "-", required_unless_present = "in_text")]
    pub(crate) token: Option<String>,
    /// Where a text is read that has tokens somewhere: - is standard input
    #[arg(long, value_name = "-", conflicts_with = "token")]
    pub(crate) in_text: Option<String>,
    /// Prints the credential as one JSON object; those in a text as one array
    #[arg(long)]
    pub(crate) json: bool,
}

/// `catalogue keys check`
#[derive(Debug, Args)]
#[command(after_help = "\
A line is valid when its form and checksum are those of a token. Whether the
token exists is not asked: no database is opened. Of a valid token the first
eight characters are shown, of all else nothing.

Example: what a scanner has found
  catalogue keys check < suspects.txt")]
pub(crate) struct CheckKeys {
    /// Prints one JSON array instead of lines
    #[arg(long)]
    pub(crate) json: bool,
}

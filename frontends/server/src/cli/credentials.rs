//! The commands for API keys, and what a new credential is made of.

use std::time::Duration;

use catalogue_core::auth::Scopes;
use clap::{Args, Subcommand};

use super::options::PossibleValues;
use crate::units;

pub(super) const KEYS_EXAMPLE: &str = "\
Example: a key, kept in a variable
  TOKEN=$(catalogue keys create --account acc_1 --name \"A partner\" \\
    --scope read:profile read:courses)";

const KEYS_LIST_HELP: &str = "\
With several options, only keys that fit all of them are listed. A server
writes last uses once a minute.

Example: what ends within a month, in all accounts
  catalogue keys list --expiring 30d";

/// Broken by hand: clap does not wrap the usage line.
const CREATE_KEY_USAGE: &str = "\
catalogue keys create [OPTIONS] --account <ID> --name <NAME>
                             --scope <SCOPE>...";

/// `catalogue keys`
#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Creates an API key and prints it once; only its digest is stored
    #[command(after_help = KEYS_EXAMPLE, override_usage = CREATE_KEY_USAGE)]
    Create(CreateKey),
    /// Lists credentials, without the tokens
    #[command(after_help = KEYS_LIST_HELP)]
    List(ListKeys),
    /// Shows the credential of a token, or of each token in a text, on standard input
    Find(FindKey),
    /// Makes the successor of an API key, and lets the old one end after an overlap
    Rotate(RotateKey),
    /// Revokes a credential: it is refused from the next request on
    Revoke(RevokeKey),
    /// Shows what was done with an account's keys, and who has signed in, newest first
    #[command(after_help = "\
Example: who has revoked a key
  catalogue keys log --account acc_1")]
    Log {
        /// The account
        #[arg(long, value_name = "ID")]
        account: String,
        /// Prints one JSON array instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Says of each line of standard input whether it has the form of a token
    #[command(after_help = "\
A line is valid when its form and checksum are those of a token. Whether the
token exists is not asked: no database is opened. Of a valid token the first
eight characters are shown, of all else nothing.

Example: what a scanner has found
  catalogue keys check < suspects.txt")]
    Check {
        /// Prints one JSON array instead of lines
        #[arg(long)]
        json: bool,
    },
}

/// `catalogue keys create`
#[derive(Debug, Args)]
pub(crate) struct CreateKey {
    /// What the owner calls the key
    #[arg(long, display_order = 1, value_parser = parse_name)]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) grant: Grant,
}

/// What every new credential is made of.
#[derive(Debug, Args)]
pub(crate) struct Grant {
    /// The account whose courses may be read
    #[arg(long, value_name = "ID", display_order = 0)]
    pub(crate) account: String,
    /// What it may do: read:profile, read:courses, or both; may be repeated
    #[arg(long = "scope", value_name = "SCOPE", required = true, num_args = 1..)]
    #[arg(value_parser = PossibleValues::new(parse_scopes, &["read:profile", "read:courses"]), hide_possible_values = true)]
    scopes: Vec<Scopes>,
    /// When it expires, from now, like 90d or 2w
    ///
    /// [default: never]
    #[arg(long, value_name = "DURATION", value_parser = units::lifetime)]
    pub(crate) expires_in: Option<Duration>,
    /// Prints one JSON object instead of the token alone
    #[arg(long)]
    pub(crate) json: bool,
}

impl Grant {
    /// Returns the scopes of all `--scope` options together.
    pub(crate) fn scopes(&self) -> Scopes {
        self.scopes.iter().flat_map(Scopes::iter).cloned().collect()
    }
}

/// `catalogue keys list`
#[derive(Debug, Args)]
pub(crate) struct ListKeys {
    /// The account
    ///
    /// [default: all]
    #[arg(long, value_name = "ID")]
    pub(crate) account: Option<String>,
    /// Only those that hold, and end within that time, like 30d
    #[arg(long, value_name = "DURATION", value_parser = units::duration)]
    pub(crate) expiring: Option<Duration>,
    /// Only those that hold, were not used for that time, like 90d, and are older than that
    #[arg(long, value_name = "DURATION", value_parser = units::duration)]
    pub(crate) unused: Option<Duration>,
    /// Only those that hold, and of which no use is recorded, however young they are
    #[arg(long)]
    pub(crate) never_used: bool,
    /// Prints one JSON array instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

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

/// `catalogue keys revoke`
#[derive(Debug, Args)]
#[command(
    override_usage = "catalogue keys revoke [OPTIONS] <ID | --token ->",
    after_help = "\
Example: by the id that `keys list` shows, or by the token that was leaked
  catalogue keys revoke key_0198c5d2a4b07c3e9f1d6a5b4c3d2e1f
  catalogue keys revoke --token - < token.txt"
)]
pub(crate) struct RevokeKey {
    /// The id of a key (key_...) or of an OAuth token (oauth:...)
    #[arg(required_unless_present = "token")]
    pub(crate) id: Option<String>,
    /// Its token in the place of the id; - reads it from standard input
    #[arg(long, value_name = "-", conflicts_with = "id")]
    pub(crate) token: Option<String>,
    /// Prints the credential as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `catalogue keys rotate`
#[derive(Debug, Args)]
#[command(
    override_usage = "catalogue keys rotate [OPTIONS] <KEY_ID | --token ->",
    after_help = "\
Example: a successor, while the old key works for another day
  TOKEN=$(catalogue keys rotate key_0198c5d2a4b07c3e9f1d6a5b4c3d2e1f \\
    --overlap 24h)"
)]
pub(crate) struct RotateKey {
    /// The id of the key (key_...), which must be neither revoked nor expired nor rotated before
    #[arg(value_name = "KEY_ID", required_unless_present = "token")]
    pub(crate) id: Option<String>,
    /// Its token in the place of the id; - reads it from standard input
    #[arg(long, value_name = "-", conflicts_with = "id")]
    pub(crate) token: Option<String>,
    /// How long the old key goes on to work, like 1h30m. It never outlives the expiry that it has;
    /// after 0s it has expired at once, and is refused as `expired`, not `revoked`
    #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = units::duration)]
    pub(crate) overlap: Duration,
    /// When the new key expires, from now, like 90d or 2w
    ///
    /// [default: as long after its making as the old one; never where that has no expiry]
    #[arg(long, value_name = "DURATION", value_parser = units::lifetime)]
    pub(crate) expires_in: Option<Duration>,
    /// Prints one JSON object instead of the token alone, with what the key replaces
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses a key's name, by which its owner can recognize it.
fn parse_name(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("a key needs a name; write who has it, like \"A partner\"".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

/// Parses one argument of `--scope`: scopes separated by spaces.
fn parse_scopes(text: &str) -> Result<Scopes, String> {
    let scopes = Scopes::from_names(text.split_whitespace());
    if scopes.is_empty() {
        return Err("no scope is named; write read:profile, read:courses, or both with a blank between".to_owned());
    }
    Ok(scopes)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn scopes(arguments: &str) -> String {
        let start = "catalogue keys create --account a --name n".split(' ');
        let cli = Cli::try_parse_from(start.chain(arguments.split('|'))).unwrap();
        let Command::Keys(KeysCommand::Create(create)) = cli.command else { panic!("{cli:?}") };
        create.grant.scopes().to_string()
    }

    #[test]
    fn scopes_can_be_written_in_three_ways() {
        let both = "read:profile read:courses";
        assert_eq!(scopes("--scope|read:courses|read:profile"), both);
        assert_eq!(scopes("--scope|read:courses|--json|--scope|read:profile"), both);
        assert_eq!(scopes("--scope|read:courses read:profile read:courses"), both);
        assert_eq!(scopes("--scope=read:courses"), "read:courses");
    }

    #[test]
    fn no_scope_is_refused() {
        for text in ["", " "] {
            assert!(parse_scopes(text).unwrap_err().contains("read:courses"), "{text}");
        }
    }
}

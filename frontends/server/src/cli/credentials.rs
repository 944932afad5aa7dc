//! The commands for API keys, and the options of new credentials.

use std::time::Duration;

use catalogue_core::auth::Scopes;
use clap::{Args, Subcommand};

use super::options::PossibleValues;
use crate::units;

pub(super) const KEYS_EXAMPLE: &str = "\
Example: store a new key in a variable
  TOKEN=$(catalogue keys create --account acc_1 --name \"A partner\" \\
    --scope read:profile read:courses)";

const KEYS_LIST_HELP: &str = "\
With several options, only keys that match all are listed. Servers record last
uses once a minute.

Example: keys of all accounts that expire within a month
  catalogue keys list --expiring 30d";

/// Broken by hand: clap does not wrap the usage line.
const CREATE_KEY_USAGE: &str = "\
catalogue keys create [OPTIONS] --account <ID> --name <NAME>
                             --scope <SCOPE>...";

/// `catalogue keys`
#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Create an API key and print it once; only its digest is stored
    #[command(after_help = KEYS_EXAMPLE, override_usage = CREATE_KEY_USAGE)]
    Create(CreateKey),
    /// List credentials, without their tokens
    #[command(after_help = KEYS_LIST_HELP)]
    List(ListKeys),
    /// Find the credential of a token, or of each token in a text, on standard input
    Find(FindKey),
    /// Replace an API key; the old one expires after an overlap
    Rotate(RotateKey),
    /// Revoke a credential; it is refused from the next request on
    Revoke(RevokeKey),
    /// List the changes of an account's keys, and its sign-ins, newest first
    #[command(after_help = "\
Example: who revoked a key
  catalogue keys log --account acc_1")]
    Log {
        /// Id of the account
        #[arg(long, value_name = "ID")]
        account: String,
        /// Print a JSON array instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Check whether each line of standard input is a well-formed token
    #[command(after_help = "\
A line is valid if it has the form and the checksum of a token. No database is
opened, so the token may not exist. Only the first eight characters of a valid
token are printed, and nothing of other lines.

Example: the findings of a scanner
  catalogue keys check < suspects.txt")]
    Check {
        /// Print a JSON array instead of lines
        #[arg(long)]
        json: bool,
    },
}

/// `catalogue keys create`
#[derive(Debug, Args)]
pub(crate) struct CreateKey {
    /// Name by which the owner recognizes the key
    #[arg(long, display_order = 1, value_parser = parse_name)]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) grant: Grant,
}

/// Options of every new credential.
#[derive(Debug, Args)]
pub(crate) struct Grant {
    /// Id of the account whose courses may be read
    #[arg(long, value_name = "ID", display_order = 0)]
    pub(crate) account: String,
    /// Scopes: read:profile, read:courses, or both; may be repeated
    #[arg(long = "scope", value_name = "SCOPE", required = true, num_args = 1..)]
    #[arg(value_parser = PossibleValues::new(parse_scopes, &["read:profile", "read:courses"]), hide_possible_values = true)]
    scopes: Vec<Scopes>,
    /// Lifetime of the credential, like 90d or 2w
    ///
    /// [default: never]
    #[arg(long, value_name = "DURATION", value_parser = units::lifetime)]
    pub(crate) expires_in: Option<Duration>,
    /// Print a JSON object instead of only the token
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
    /// Id of the account
    ///
    /// [default: all]
    #[arg(long, value_name = "ID")]
    pub(crate) account: Option<String>,
    /// List only active credentials that expire within DURATION, like 30d
    #[arg(long, value_name = "DURATION", value_parser = units::duration)]
    pub(crate) expiring: Option<Duration>,
    /// List only active credentials that are older than DURATION and were not used within it, like 90d
    #[arg(long, value_name = "DURATION", value_parser = units::duration)]
    pub(crate) unused: Option<Duration>,
    /// List only active credentials without a recorded use, of any age
    #[arg(long)]
    pub(crate) never_used: bool,
    /// Print a JSON array instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// `catalogue keys find`
#[derive(Debug, Args)]
#[command(
    override_usage = "catalogue keys find [OPTIONS] <- | --in-text ->",
    after_help = "\
Servers record last uses once a minute. With --in-text, each token is reported
once, by the number of its first line, and never printed; a token without a
credential is unknown.

Example: a leaked token, and a text that contains tokens
  catalogue keys find - < token.txt
  catalogue keys find --in-text - < paste.txt"
)]
pub(crate) struct FindKey {
    /// Source of the token: - for standard input
    #[arg(value_name = "-", required_unless_present = "in_text")]
    pub(crate) token: Option<String>,
    /// Source of a text that contains tokens: - for standard input
    #[arg(long, value_name = "-", conflicts_with = "token")]
    pub(crate) in_text: Option<String>,
    /// Print the credential as a JSON object, or the tokens of a text as an array
    #[arg(long)]
    pub(crate) json: bool,
}

/// `catalogue keys revoke`
#[derive(Debug, Args)]
#[command(
    override_usage = "catalogue keys revoke [OPTIONS] <ID | --token ->",
    after_help = "\
Example: by the id from `keys list`, or by the leaked token
  catalogue keys revoke key_0198c5d2a4b07c3e9f1d6a5b4c3d2e1f
  catalogue keys revoke --token - < token.txt"
)]
pub(crate) struct RevokeKey {
    /// Id of a key (key_...) or of an OAuth token (oauth:...)
    #[arg(required_unless_present = "token")]
    pub(crate) id: Option<String>,
    /// Identify the credential by its token instead of its id: - for standard input
    #[arg(long, value_name = "-", conflicts_with = "id")]
    pub(crate) token: Option<String>,
    /// Print the credential as a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `catalogue keys rotate`
#[derive(Debug, Args)]
#[command(
    override_usage = "catalogue keys rotate [OPTIONS] <KEY_ID | --token ->",
    after_help = "\
Example: a new key, with the old one valid for another day
  TOKEN=$(catalogue keys rotate key_0198c5d2a4b07c3e9f1d6a5b4c3d2e1f \\
    --overlap 24h)"
)]
pub(crate) struct RotateKey {
    /// Id of the key (key_...), which must not be revoked, expired or already rotated
    #[arg(value_name = "KEY_ID", required_unless_present = "token")]
    pub(crate) id: Option<String>,
    /// Identify the key by its token instead of its id: - for standard input
    #[arg(long, value_name = "-", conflicts_with = "id")]
    pub(crate) token: Option<String>,
    /// How long the old key stays valid, like 1h30m, but never beyond its own expiry. With 0s it
    /// expires immediately, and is refused as `expired`, not `revoked`
    #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = units::duration)]
    pub(crate) overlap: Duration,
    /// Lifetime of the new key, like 90d or 2w
    ///
    /// [default: same lifetime as the old key]
    #[arg(long, value_name = "DURATION", value_parser = units::lifetime)]
    pub(crate) expires_in: Option<Duration>,
    /// Print a JSON object instead of only the token, including the replaced key
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses a key's name, by which its owner can recognize it.
fn parse_name(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("the name is empty; use the key holder's name, like \"A partner\"".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

/// Parses one argument of `--scope`: scopes separated by spaces.
fn parse_scopes(text: &str) -> Result<Scopes, String> {
    let scopes = Scopes::from_names(text.split_whitespace());
    if scopes.is_empty() {
        return Err("no scope given; use read:profile, read:courses, or both separated by a space".to_owned());
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
    fn scope_option_accepts_three_syntaxes() {
        let both = "read:profile read:courses";
        assert_eq!(scopes("--scope|read:courses|read:profile"), both);
        assert_eq!(scopes("--scope|read:courses|--json|--scope|read:profile"), both);
        assert_eq!(scopes("--scope|read:courses read:profile read:courses"), both);
        assert_eq!(scopes("--scope=read:courses"), "read:courses");
    }

    #[test]
    fn empty_scopes_are_refused() {
        for text in ["", " "] {
            assert!(parse_scopes(text).unwrap_err().contains("read:courses"), "{text}");
        }
    }
}

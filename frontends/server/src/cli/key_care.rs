//! What `keys rotate` and `keys check` take.

use std::time::Duration;

use clap::Args;

use crate::duration;

/// `catalogue keys rotate`
#[derive(Debug, Args)]
#[command(after_help = "\
Example: a successor, while the old key works for another day
  TOKEN=$(catalogue keys rotate key_0198c5d2a4b07c3e9f1d6a5b4c3d2e1f \\
    --overlap 24h)")]
pub(crate) struct RotateKey {
    /// The id of the key (key_...), which must be neither revoked nor expired nor rotated before
    #[arg(value_name = "KEY_ID")]
    pub(crate) id: String,
    /// How long the old key goes on to work: a whole number and s, m, h or d. It never outlives the expiry that it has;
    /// after 0s it has expired at once
    #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = duration::parse)]
    pub(crate) overlap: Duration,
    /// When the new key expires, from now: a whole number and s, m, h or d
    ///
    /// [default: as long after its making as the old one; never where that has no expiry]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse_lifetime)]
    pub(crate) expires_in: Option<Duration>,
    /// Prints one JSON object instead of the token alone, with what the key replaces
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

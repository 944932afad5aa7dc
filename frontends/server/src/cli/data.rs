//! The commands that move data, and the one that prints documents.

use std::path::PathBuf;

use catalogue_core::DocumentFormat;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// `catalogue import`
#[derive(Debug, Args)]
#[command(after_help = "\
Format: one JSON object a line of 1 GiB at most; an account's line comes before
those of its courses
  {\"type\":\"account\",\"id\":\"a\",\"name\":\"A studio\",\"email\":\"a@example.org\"}
  {\"type\":\"course\",\"account\":\"a\",\"slug\":\"s\",\"title\":\"T\",\"language\":\"en\"}
Courses can also have tagline, createdAt, publishedAt, hidden, accessMode, and
modules: [{\"title\":\"One\",\"summary\":\"\",\"content\":\"\"}]
The slugs . and .. are allowed, but most clients never ask for them.

A pipe that breaks at the end of a line looks like the end of the input, and
--prune then removes what would have followed. So prune from a file that is
known to be whole:
  catalogue export > courses.jsonl && catalogue import --prune courses.jsonl
What comes from a pipe is copied to the directory for temporary files (TMPDIR)
first.

Example: what would change
  catalogue import courses.jsonl --dry-run")]
pub(crate) struct ImportArguments {
    /// The file to read, or - for standard input
    #[arg(required_unless_present = "schema")]
    pub(crate) file: Option<PathBuf>,
    /// Removes the courses that the file does not list, of the accounts that have a line of their own in it
    #[arg(long)]
    pub(crate) prune: bool,
    /// Checks everything and names what would change, and changes nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Prints the counts, and each name that --dry-run or --prune tells, as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Prints a JSON Schema of one line, and opens no database
    #[arg(long, conflicts_with_all = ["file", "prune", "dry_run"])]
    pub(crate) schema: bool,
}

/// `catalogue backup`
#[derive(Debug, Args)]
#[command(after_help = "\
Copies an SQLite database while servers and commands use it, all of one
moment. What they commit meanwhile is not in it. FILE appears when it is whole
and on the disk, with the mode of the database. It has everything, credentials
too; `export` has accounts and courses alone. A database of PostgreSQL is
copied by pg_dump.

Example: a copy for each day
  catalogue backup backups/catalogue-$(date +%F).db")]
pub(crate) struct BackupArguments {
    /// The file to make, which must not be there
    pub(crate) file: PathBuf,
    /// Prints the file, its size and the time taken as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `catalogue migrate`
#[derive(Debug, Args)]
#[command(after_help = "\
Example: before a server starts with --no-migrate
  catalogue migrate --database sqlite:/var/lib/catalogue.db")]
pub(crate) struct MigrateArguments {
    /// Makes the tables without triggers, for an engine that speaks PostgreSQL's language and has none
    #[arg(long)]
    pub(crate) without_triggers: bool,
    /// Spreads the tables over the nodes of a Citus cluster, those that are there too; name its coordinator
    #[arg(long)]
    pub(crate) citus: bool,
    /// Prints the versions as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `catalogue openapi`
#[derive(Debug, Args)]
#[command(after_help = "\
Example: a description for a generator that reads OpenAPI 3.0 only
  catalogue openapi --format json-3.0 \\
    --base-url https://api.example.com/api/v1 > openapi.json")]
pub(crate) struct OpenapiArguments {
    /// Which document
    #[arg(long, default_value = "json", value_parser = format())]
    pub(crate) format: DocumentFormat,
    /// Refuses a --format that is not JSON; the default one is
    #[arg(long, display_order = 100)]
    pub(crate) json: bool,
}

/// Parses the name of a document. Offers all names with their descriptions.
fn format() -> impl TypedValueParser<Value = DocumentFormat> {
    const KNOWN: [(&str, DocumentFormat, &str); 4] = [
        ("json", DocumentFormat::OpenApi, "OpenAPI 3.1, as it is served"),
        ("json-3.0", DocumentFormat::OpenApi30, "OpenAPI 3.0, for older generators"),
        ("markdown", DocumentFormat::Markdown, "The reference in Markdown"),
        ("llms", DocumentFormat::Llms, "The index for AI agents"),
    ];
    let names = PossibleValuesParser::new(KNOWN.map(|(name, _, help)| PossibleValue::new(name).help(help)));
    names.try_map(|text| {
        KNOWN.into_iter().find(|(name, ..)| *name == text).map(|(_, format, _)| format).ok_or("no such format")
    })
}

//! The arguments of `import`, `backup`, `migrate` and `openapi`.

use std::path::PathBuf;

use catalogue_core::DocumentFormat;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// `catalogue import`
#[derive(Debug, Args)]
#[command(after_help = "\
Format: one JSON object a line, of at most 1 GiB; an account before its courses
  {\"type\":\"account\",\"id\":\"a\",\"name\":\"A studio\",\"email\":\"a@example.org\"}
  {\"type\":\"course\",\"account\":\"a\",\"slug\":\"s\",\"title\":\"T\",\"language\":\"en\"}
Courses can also have tagline, createdAt, publishedAt, hidden, accessMode, and
modules: [{\"title\":\"One\",\"summary\":\"\",\"content\":\"\"}]
The slugs . and .. are allowed, but most clients never request them.

A pipe that breaks at the end of a line looks like the end of the input, and
--prune then removes the courses that are missing. Prune from a complete file:
  catalogue export > courses.jsonl && catalogue import --prune courses.jsonl
Input from a pipe is first copied to a temporary file (in TMPDIR).

Example: list the changes without making them
  catalogue import courses.jsonl --dry-run")]
pub(crate) struct ImportArguments {
    /// File to read, or - for standard input
    #[arg(required_unless_present = "schema")]
    pub(crate) file: Option<PathBuf>,
    /// Remove courses that the file does not list, for each account that has a line in it
    #[arg(long)]
    pub(crate) prune: bool,
    /// Check everything and list the changes, without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the counts, and the names that --dry-run or --prune list, as a JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the JSON Schema of a line, without opening a database
    #[arg(long, conflicts_with_all = ["file", "prune", "dry_run"])]
    pub(crate) schema: bool,
}

/// `catalogue backup`
#[derive(Debug, Args)]
#[command(after_help = "\
Copies a snapshot of an SQLite database while servers and commands use it.
FILE appears once it is complete and on the disk, with the mode of the
database. It contains everything, including credentials; `export` has only
accounts and courses. For PostgreSQL, use pg_dump.

Example: a daily copy
  catalogue backup backups/catalogue-$(date +%F).db")]
pub(crate) struct BackupArguments {
    /// Output file, which must not exist
    pub(crate) file: PathBuf,
    /// Print the file, its size and the time taken as a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `catalogue migrate`
#[derive(Debug, Args)]
#[command(after_help = "\
Example: before starting a server with --no-migrate
  catalogue migrate --database sqlite:/var/lib/catalogue.db")]
pub(crate) struct MigrateArguments {
    /// Create the tables without triggers, for PostgreSQL-compatible engines that lack them
    #[arg(long)]
    pub(crate) without_triggers: bool,
    /// Distribute new and existing tables over a Citus cluster, whose coordinator --database names
    #[arg(long)]
    pub(crate) citus: bool,
    /// Print the versions as a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `catalogue openapi`
#[derive(Debug, Args)]
#[command(after_help = "\
Example: a document for a generator that reads only OpenAPI 3.0
  catalogue openapi --format json-3.0 \\
    --base-url https://api.example.com/api/v1 > openapi.json")]
pub(crate) struct OpenapiArguments {
    /// Document to print
    #[arg(long, default_value = "json", value_parser = format())]
    pub(crate) format: DocumentFormat,
}

/// Parses the name of a document. Offers all names with their descriptions.
fn format() -> impl TypedValueParser<Value = DocumentFormat> {
    const KNOWN: [(&str, DocumentFormat, &str); 4] = [
        ("json", DocumentFormat::OpenApi, "OpenAPI 3.1, as served"),
        ("json-3.0", DocumentFormat::OpenApi30, "OpenAPI 3.0, for older generators"),
        ("markdown", DocumentFormat::Markdown, "Reference in Markdown"),
        ("llms", DocumentFormat::Llms, "Index for AI agents"),
    ];
    let names = PossibleValuesParser::new(KNOWN.map(|(name, _, help)| PossibleValue::new(name).help(help)));
    names.try_map(|text| {
        KNOWN.into_iter().find(|(name, ..)| *name == text).map(|(_, format, _)| format).ok_or("no such format")
    })
}

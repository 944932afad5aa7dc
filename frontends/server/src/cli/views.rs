//! The commands for views over the courses of another program.

use clap::{Args, Subcommand};

pub(super) const VIEWS_EXAMPLE: &str = "\
Example: check the views of an SQLite database
  catalogue views check --courses views \\
    --courses-database sqlite:/srv/app/db.sqlite3";

/// `catalogue views`
#[derive(Debug, Subcommand)]
pub(crate) enum ViewsCommand {
    /// Print SQL that creates the views, with comments on what to fill in
    #[command(after_help = "\
Example: for tables of Django, in SQLite
  catalogue views example --from django --for sqlite > views.sql
  sqlite3 -bail /srv/app/db.sqlite3 < views.sql")]
    Example(Example),
    /// Report problems in the views, and how to fix them
    #[command(after_help = VIEWS_EXAMPLE)]
    Check {
        /// Check all rows, instead of at most 10,000 of each view
        #[arg(long)]
        all: bool,
        /// Print a JSON object instead of lines
        #[arg(long)]
        json: bool,
    },
    /// Print the first page of an account's courses, as the API returns it
    #[command(after_help = "\
Example: before the first key exists
  catalogue views show --account 1 --courses views \\
    --courses-database sqlite:/srv/app/db.sqlite3")]
    Show {
        /// Id of the account
        #[arg(long, value_name = "ID", display_order = 0)]
        account: String,
        /// Accepted for consistency; the output is always JSON
        #[arg(long)]
        json: bool,
    },
}

/// `catalogue views example`
#[derive(Debug, Args)]
pub(crate) struct Example {
    /// Framework that created the tables
    #[arg(long, value_name = "FRAMEWORK", value_parser = EXAMPLES.map(|(name, _)| name))]
    from: String,
    /// SQL dialect
    ///
    /// [default: dialect of --database]
    #[arg(long = "for", value_name = "DATABASE", value_parser = ["sqlite", "postgres"])]
    pub(crate) sql: Option<String>,
    /// Print the triggers that maintain catalogue_revisions instead of the views
    #[arg(long)]
    revisions: bool,
}

/// Expands to the SQL statements for the tables of each framework: for SQLite and for PostgreSQL, the views, and then the triggers.
macro_rules! examples {
    ($($framework:literal)*) => {
        [$(($framework, [
            [include_str!(concat!("views/", $framework, ".sqlite.sql")), include_str!(concat!("views/", $framework, ".postgres.sql"))],
            [include_str!(concat!("views/", $framework, ".revisions.sqlite.sql")), include_str!(concat!("views/", $framework, ".revisions.postgres.sql"))],
        ])),*]
    };
}

const EXAMPLES: [(&str, [[&str; 2]; 2]); 4] = examples! { "django" "rails" "laravel" "plain" };

impl Example {
    /// Returns the statements in the SQL dialect of `database`.
    pub(crate) fn text(&self, database: &str) -> &'static str {
        let known = EXAMPLES.iter().find(|(name, _)| *name == self.from);
        let [sqlite, postgres] = known.expect("clap rejects unknown names").1[usize::from(self.revisions)];
        if database == "postgres" { postgres } else { sqlite }
    }
}

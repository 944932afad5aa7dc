//! The commands for views over the courses of another program.

use clap::{Args, Subcommand};

pub(super) const VIEWS_EXAMPLE: &str = "\
Example: whether the API can serve what the views have
  catalogue views check --courses views \\
    --courses-database sqlite:/srv/app/db.sqlite3";

/// `catalogue views`
#[derive(Debug, Subcommand)]
pub(crate) enum ViewsCommand {
    /// Prints SQL that makes the views, to be edited: a comment says in each line what to put there
    #[command(after_help = "\
Example: for tables that Django has made, in SQLite
  catalogue views example --from django --for sqlite > views.sql
  sqlite3 -bail /srv/app/db.sqlite3 < views.sql")]
    Example(Example),
    /// Says of each thing in the views that the API cannot serve what would be right
    #[command(after_help = VIEWS_EXAMPLE)]
    Check {
        /// Looks at each row, and not at 10,000 of each view
        #[arg(long)]
        all: bool,
        /// Prints one JSON object instead of lines
        #[arg(long)]
        json: bool,
    },
    /// Prints the first page of an account's courses, as the API answers it
    #[command(after_help = "\
Example: before anybody has a key
  catalogue views show --account 1 --courses views \\
    --courses-database sqlite:/srv/app/db.sqlite3")]
    Show {
        /// The account
        #[arg(long, value_name = "ID", display_order = 0)]
        account: String,
        /// Is taken for the sake of scripts: the answer is JSON anyway
        #[arg(long)]
        json: bool,
    },
}

/// `catalogue views example`
#[derive(Debug, Args)]
pub(crate) struct Example {
    /// What has made the tables
    #[arg(long, value_name = "FRAMEWORK", value_parser = EXAMPLES.map(|(name, _)| name))]
    from: String,
    /// Whose SQL
    ///
    /// [default: that of --database]
    #[arg(long = "for", value_name = "DATABASE", value_parser = ["sqlite", "postgres"])]
    pub(crate) sql: Option<String>,
}

/// SQL statements for the tables of each framework, for SQLite and for PostgreSQL.
const EXAMPLES: [(&str, [&str; 2]); 4] = [
    ("django", [include_str!("views/django.sqlite.sql"), include_str!("views/django.postgres.sql")]),
    ("rails", [include_str!("views/rails.sqlite.sql"), include_str!("views/rails.postgres.sql")]),
    ("laravel", [include_str!("views/laravel.sqlite.sql"), include_str!("views/laravel.postgres.sql")]),
    ("plain", [include_str!("views/plain.sqlite.sql"), include_str!("views/plain.postgres.sql")]),
];

impl Example {
    /// Returns the statements in the SQL dialect of `database`.
    pub(crate) fn text(&self, database: &str) -> &'static str {
        let known = EXAMPLES.iter().find(|(name, _)| *name == self.from);
        let [sqlite, postgres] = known.expect("clap takes no other").1;
        if database == "postgres" { postgres } else { sqlite }
    }
}

//! The commands for views over the courses of another program.

use clap::{Args, Subcommand, ValueEnum};

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
  catalogue views example --from django --for sqlite > views.sql")]
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
        /// Prints the answer byte for byte, and not indented
        #[arg(long)]
        json: bool,
    },
}

/// `catalogue views example`
#[derive(Debug, Args)]
pub(crate) struct Example {
    /// What has made the tables
    #[arg(long, value_enum)]
    pub(crate) from: Tables,
    /// Whose SQL
    ///
    /// [default: that of --database]
    #[arg(long = "for", value_name = "DATABASE", value_enum)]
    pub(crate) sql: Option<Sql>,
}

/// Whose names and types the tables have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tables {
    /// Django
    Django,
    /// Ruby on Rails
    Rails,
    /// Laravel
    Laravel,
    /// Anything else
    Plain,
}

/// A language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sql {
    /// SQLite
    Sqlite,
    /// PostgreSQL
    Postgres,
}

impl Example {
    /// The statements in that language.
    pub(crate) const fn text(&self, sql: Sql) -> &'static str {
        match (self.from, sql) {
            (Tables::Django, Sql::Sqlite) => include_str!("views/django.sqlite.sql"),
            (Tables::Django, Sql::Postgres) => include_str!("views/django.postgres.sql"),
            (Tables::Rails, Sql::Sqlite) => include_str!("views/rails.sqlite.sql"),
            (Tables::Rails, Sql::Postgres) => include_str!("views/rails.postgres.sql"),
            (Tables::Laravel, Sql::Sqlite) => include_str!("views/laravel.sqlite.sql"),
            (Tables::Laravel, Sql::Postgres) => include_str!("views/laravel.postgres.sql"),
            (Tables::Plain, Sql::Sqlite) => include_str!("views/plain.sqlite.sql"),
            (Tables::Plain, Sql::Postgres) => include_str!("views/plain.postgres.sql"),
        }
    }
}

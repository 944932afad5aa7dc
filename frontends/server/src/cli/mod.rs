//! The command line: what can be written, and the help that explains it.
#![expect(clippy::doc_markdown, rustdoc::bare_urls, reason = "these comments are texts for a terminal")]

mod config;
mod credentials;
mod data;
mod front;
mod key_care;
mod offered;
mod operating;
mod serving;
mod settings;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use config::ConfigCommand;
pub(crate) use credentials::{Grant, KeysCommand, ListKeys, RevokeKey, TokensCommand};
pub(crate) use data::{ExportArguments, ImportArguments, MigrateArguments, OpenapiArguments};
pub(crate) use front::FrontArguments;
pub(crate) use key_care::{CheckKeys, RotateKey};
use offered::Offered;
pub(crate) use operating::{CompletionsArguments, DoctorArguments, HealthArguments, ManArguments};
pub(crate) use serving::{DemoArguments, ServeArguments};
pub(crate) use settings::{Explanation, explanations, given_settings};

use crate::logging::LEVELS;

const AFTER_HELP: &str = "\
Settings: every option of `serve` has an environment variable (--base-url:
CATALOGUE_BASE_URL) and a key in the configuration file (base-url = \"...\"),
which is read only where --config or CATALOGUE_CONFIG names it. The command
line wins over the environment, the environment over the file. Lists are
separated by blanks or commas. An empty variable counts as not set. Addresses
that may hold a password (--database, --database-replicas, --rate-limit-store)
can stand in a file of their own: --database file:/run/secrets/database.

Exit status: 0 done; 1 the work failed; 2 the command line, the environment
or the configuration is wrong.

Example: a server to play with, and lines to paste into another terminal
  catalogue demo";

/// The course catalogue API as a standalone program.
#[derive(Debug, Parser)]
#[command(name = "catalogue", version, after_help = AFTER_HELP, arg_required_else_help = false)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Global {
    /// Where the data is: sqlite:PATH, postgres://USER@HOST/NAME, or sqlite::memory:, which ends with the program
    ///
    /// [default: sqlite:catalogue.db; for `demo` sqlite::memory:] [env: CATALOGUE_DATABASE]
    #[arg(long, global = true, value_name = "ADDRESS")]
    pub(crate) database: Option<String>,
    /// A pooler that gives out connections for a transaction each stands before the PostgreSQL database
    ///
    /// [env: CATALOGUE_DATABASE_POOLER]
    #[arg(long, global = true)]
    pub(crate) database_pooler: bool,
    /// What is logged to standard error, in tracing's filter syntax; a level alone is that of this program's own lines, of
    /// libraries that are not named errors are shown (debug,h2=debug); info,catalogue::access=off leaves requests out
    ///
    /// [default: info] [env: CATALOGUE_LOG]
    #[arg(long, global = true, value_name = "LEVEL")]
    #[arg(value_parser = Offered::texts(&LEVELS), hide_possible_values = true)]
    pub(crate) log: Option<String>,
    /// What lines of the log look like: text, or json for an object a line
    ///
    /// [default: text] [env: CATALOGUE_LOG_FORMAT]
    #[arg(long, global = true, value_name = "FORMAT")]
    #[arg(value_parser = Offered::texts(&["text", "json"]), hide_possible_values = true)]
    pub(crate) log_format: Option<String>,
    /// The configuration file, in TOML; none is read where none is named
    ///
    /// [env: CATALOGUE_CONFIG]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs a server with sample courses and a fresh key, and shows lines to try it with
    Demo(DemoArguments),
    /// Serves the API and its documents
    Serve(Box<ServeArguments>),
    /// Reads accounts and courses from JSON Lines: all of them, or nothing
    Import(ImportArguments),
    /// Writes all accounts and courses as JSON Lines, as `import` reads them
    Export(ExportArguments),
    /// Makes, lists, rotates, revokes and checks API keys
    #[command(subcommand, arg_required_else_help = false, after_help = credentials::KEYS_EXAMPLE)]
    Keys(KeysCommand),
    /// Registers OAuth tokens
    #[command(subcommand, arg_required_else_help = false, after_help = credentials::TOKENS_EXAMPLE)]
    Tokens(TokensCommand),
    /// Prints a document of the API without a server or database
    Openapi(OpenapiArguments),
    /// Makes a missing database and brings the schema of an older one up to date
    Migrate(MigrateArguments),
    /// Says what is in force for `serve`, and prints a configuration file to begin with
    #[command(subcommand, arg_required_else_help = false, after_help = config::CHECK_EXAMPLE)]
    Config(ConfigCommand),
    /// Looks at a deployment with the settings of `serve`, and says what to mend
    #[command(after_help = operating::DOCTOR_EXAMPLE)]
    Doctor(Box<DoctorArguments>),
    /// Asks a server whether it is well, for a container's health check
    Health(HealthArguments),
    /// Prints a script by which a shell completes command lines of this program
    Completions(CompletionsArguments),
    /// Prints the manual page, or writes a page for each command
    Man(ManArguments),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::config::Setting;

    #[test]
    fn the_definitions_agree() {
        Cli::command().debug_assert();
    }

    #[test]
    fn serve_explains_every_setting_with_its_variable() {
        let mut command = Cli::command();
        command.build();
        let help = command.find_subcommand_mut("serve").unwrap().render_long_help().to_string();
        for setting in Setting::ALL {
            assert!(help.contains(&format!("--{}", setting.name())), "{setting:?}");
            assert!(help.contains(&format!("[env: {}]", setting.variable())), "{setting:?}");
        }
    }

    /// Calls `check` for the command and those below it, each with its path.
    fn for_each(command: &mut clap::Command, path: &str, check: &impl Fn(&mut clap::Command, &str)) {
        check(command, path);
        for inner in command.get_subcommands_mut().filter(|command| command.get_name() != "help") {
            let path = format!("{path} {}", inner.get_name());
            for_each(inner, &path, check);
        }
    }

    #[test]
    fn every_command_shows_an_example() {
        let mut command = Cli::command();
        command.build();
        for_each(&mut command, "catalogue", &|command, path| {
            let help = command.render_long_help().to_string();
            let example = help.split("Example").nth(1).unwrap_or_else(|| panic!("{path}"));
            assert!(example.contains(&format!("{path} ")) || example.trim_end().ends_with(path), "{path}: {example}");
        });
    }

    #[test]
    fn help_fits_a_terminal_of_80_columns() {
        const WIDTH: usize = 80;
        let mut command = Cli::command().term_width(WIDTH);
        command.build();
        for_each(&mut command, "catalogue", &|command, path| {
            for help in [command.render_help(), command.render_long_help()] {
                let help = help.to_string();
                assert!(help.lines().all(|line| line.chars().count() <= WIDTH), "{path}: {help}");
                // What is to be pasted stands as it was written.
                let pasted = command.get_after_help().unwrap().to_string();
                assert!(help.contains(&pasted), "{path}: {help:?}\n{pasted:?}");
            }
        });
    }
}

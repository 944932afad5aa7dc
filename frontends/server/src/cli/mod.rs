//! The command line: its grammar and its help. The options for settings are added from the settings table.
#![expect(clippy::doc_markdown, reason = "these comments are texts for a terminal")]

mod accounts;
mod credentials;
mod data;
mod developer_settings;
mod options;
mod tokens;
mod views;

use std::path::PathBuf;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueHint};
use clap_complete::Shell;

pub(crate) use accounts::{AccountsCommand, RemoveAccount};
pub(crate) use credentials::{CreateKey, FindKey, Grant, KeysCommand, ListKeys, RevokeKey, RotateKey};
pub(crate) use data::{BackupArguments, ImportArguments, MigrateArguments, OpenapiArguments};
pub(crate) use developer_settings::{MakeLink, SettingsCommand};
pub(crate) use tokens::TokensCommand;
pub(crate) use views::{Example, ViewsCommand};

use crate::settings::CommandLine;

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

const CONFIG_EXAMPLE: &str = "\
Example: before a server is restarted
  catalogue config check --config /etc/catalogue/catalogue.toml";

/// The course catalogue API as a standalone program.
#[derive(Debug, Parser)]
#[command(name = "catalogue", version, after_help = AFTER_HELP, arg_required_else_help = false)]
struct Cli {
    /// The configuration file, in TOML; none is read where none is named
    ///
    /// [env: CATALOGUE_CONFIG]
    #[arg(long, global = true, value_name = "FILE", help_heading = options::COMMON_HEADING, display_order = 100)]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

/// Returns the complete command line: the commands and the options for settings.
pub(crate) fn command() -> clap::Command {
    options::add_options(Cli::command())
}

/// Parses the command line of this process, and the settings that it contains.
pub(crate) fn parse() -> Result<(Command, CommandLine), clap::Error> {
    let mut matches = command().try_get_matches()?;
    let options = options::given_options(&matches);
    let Cli { config, command } =
        Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut self::command()))?;
    Ok((command, CommandLine { options, config }))
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs a server with sample courses and a fresh key, and shows lines to try it with
    #[command(after_help = "\
Example: sample courses in memory, gone when the program ends
  catalogue demo")]
    Demo,
    /// Serves the API and its documents
    #[command(after_help = "\
Example: behind a proxy on this machine that speaks TLS
  catalogue serve --base-url https://api.example.com/api/v1 \\
    --docs-url https://api.example.com/docs --trusted-proxies 127.0.0.1

Example: HTTPS
  catalogue serve --listen 0.0.0.0:443 --tls-cert chain.pem --tls-key key.pem")]
    Serve,
    /// Reads accounts and courses from JSON Lines: all of them, or nothing
    Import(ImportArguments),
    /// Writes all accounts and courses as JSON Lines, as `import` reads them
    #[command(after_help = "\
Example: a copy of everything but the credentials
  catalogue export --database sqlite:catalogue.db > courses.jsonl")]
    Export {
        /// The account to write alone, with its courses; may be repeated
        ///
        /// [default: all]
        #[arg(long = "account", value_name = "ID")]
        accounts: Vec<String>,
        /// Is taken for the sake of scripts: an export is JSON Lines anyway
        #[arg(long)]
        json: bool,
    },
    /// Copies an SQLite database that is in use
    Backup(BackupArguments),
    /// Lists, shows and removes accounts
    #[command(subcommand, arg_required_else_help = false, after_help = accounts::ACCOUNTS_EXAMPLE)]
    Accounts(AccountsCommand),
    /// Makes, lists, finds, rotates, revokes and checks API keys
    #[command(subcommand, arg_required_else_help = false, after_help = credentials::KEYS_EXAMPLE)]
    Keys(KeysCommand),
    /// Registers, lists and revokes OAuth tokens
    #[command(subcommand, arg_required_else_help = false, after_help = tokens::TOKENS_EXAMPLE)]
    Tokens(TokensCommand),
    /// Makes links that sign owners in to the developer settings, and ends sessions
    #[command(subcommand, arg_required_else_help = false, after_help = developer_settings::SETTINGS_EXAMPLE)]
    Settings(SettingsCommand),
    /// Prints, checks and shows views over the courses of another program
    #[command(subcommand, arg_required_else_help = false, after_help = views::VIEWS_EXAMPLE)]
    Views(ViewsCommand),
    /// Prints a document of the API without a server or database
    Openapi(OpenapiArguments),
    /// Makes a missing database and brings the schema of an older one up to date
    Migrate(MigrateArguments),
    /// Says what is in force for `serve`, and prints a configuration file to begin with
    #[command(subcommand, arg_required_else_help = false, after_help = CONFIG_EXAMPLE)]
    Config(ConfigCommand),
    /// Looks at a deployment with the settings of `serve`, and says what to mend
    #[command(after_help = "\
Exit status: 0 where nothing is at fault, with or without warnings; 1 where
something is; 2 where the settings are wrong.

Example: with the settings of a server
  catalogue doctor --config /etc/catalogue/catalogue.toml")]
    Doctor {
        /// Prints one JSON object instead of lines
        #[arg(long)]
        json: bool,
    },
    /// Asks a server whether it is well, for a container's health check
    #[command(after_help = "\
Without a URL, the documents of the server that the environment and the
configuration file describe are asked for on this machine: CATALOGUE_LISTEN
and CATALOGUE_DOCS_URL. Where CATALOGUE_TLS_CERT is set, plain HTTP is tried,
and a server that speaks TLS answers it with 400.

Exit status: 0 if the answer is as expected, 1 if there is none or another.

Example: a server with --admin-listen 127.0.0.1:9090
  catalogue health http://127.0.0.1:9090/ready")]
    Health {
        /// What to ask for, over plain HTTP: http://ADDRESS:PORT/PATH
        ///
        /// [default: the documents, which need no key, of the server with these settings]
        url: Option<String>,
    },
    /// Prints a script by which a shell completes command lines of this program
    #[command(after_help = "\
Example: for bash
  catalogue completions bash > /etc/bash_completion.d/catalogue")]
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Prints the manual page, or writes a page for each command
    #[command(after_help = "\
Example: all pages, for man to find
  catalogue man --out /usr/local/share/man/man1")]
    Man {
        /// The directory to write a page for each command into; without it the page of the program is printed
        #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
        out: Option<PathBuf>,
    },
}

/// `catalogue config`
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Says what is in force for `serve` and where each value comes from, or all that is wrong
    ///
    /// Takes the options of `serve`. Passwords are not shown. Neither the database nor an address is opened.
    #[command(after_help = CONFIG_EXAMPLE)]
    Check {
        /// Prints one JSON object instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Prints a configuration file with every key, its default and what it means, as comments
    #[command(after_help = "\
Example: a file to begin with
  catalogue config example > catalogue.toml")]
    Example,
}

#[cfg(test)]
mod tests {
    use super::command;
    use crate::settings::table;

    #[test]
    fn the_definitions_agree() {
        command().debug_assert();
    }

    #[test]
    fn serve_explains_every_setting_with_its_variable() {
        let mut command = command();
        command.build();
        let help = command.find_subcommand_mut("serve").unwrap().render_long_help().to_string();
        for setting in table::all() {
            assert!(help.contains(&format!("--{}", setting.name)), "{setting:?}");
            assert!(help.contains(&format!("[env: {}]", setting.variable())), "{setting:?}");
        }
    }

    /// Calls `check` for the command and all its subcommands, each with its path.
    fn for_each(command: &mut clap::Command, path: &str, check: &impl Fn(&mut clap::Command, &str)) {
        check(command, path);
        for inner in command.get_subcommands_mut().filter(|command| command.get_name() != "help") {
            let path = format!("{path} {}", inner.get_name());
            for_each(inner, &path, check);
        }
    }

    #[test]
    fn every_command_shows_an_example() {
        let mut command = command();
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
        let mut command = command().term_width(WIDTH);
        command.build();
        for_each(&mut command, "catalogue", &|command, path| {
            for help in [command.render_help(), command.render_long_help()] {
                let help = help.to_string();
                assert!(help.lines().all(|line| line.chars().count() <= WIDTH), "{path}: {help}");
                // Examples are printed verbatim, without wrapping, so that they can be pasted.
                let pasted = command.get_after_help().unwrap().to_string();
                assert!(help.contains(&pasted), "{path}: {help:?}\n{pasted:?}");
            }
        });
    }
}

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
which is read only if --config or CATALOGUE_CONFIG names it. The command line
overrides the environment, which overrides the file. Lists are separated by
spaces or commas. An empty variable counts as not set. URLs with a password
(--database, --database-replicas, --rate-limit-store) can be in a separate
file: --database file:/run/secrets/database.

Exit status: 0 success; 1 failure; 2 invalid command line or settings.

Example: a server with sample courses, and commands to try it
  catalogue demo";

const CONFIG_EXAMPLE: &str = "\
Example: before restarting a server
  catalogue config check --config /etc/catalogue/catalogue.toml";

/// The course catalogue API as a standalone program.
#[derive(Debug, Parser)]
#[command(name = "catalogue", version, after_help = AFTER_HELP, arg_required_else_help = false)]
struct Cli {
    /// Configuration file (TOML); none is read by default
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

/// Commands of the program.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a server with sample courses and a new key, and print commands to try it
    #[command(after_help = "\
Example: sample courses in memory, discarded at exit
  catalogue demo")]
    Demo,
    /// Serve the API and its documents
    #[command(after_help = "\
Example: behind a TLS proxy on this machine
  catalogue serve --base-url https://api.example.com/api/v1 \\
    --docs-url https://api.example.com/docs --trusted-proxies 127.0.0.1

Example: HTTPS
  catalogue serve --listen 0.0.0.0:443 --tls-cert chain.pem --tls-key key.pem")]
    Serve,
    /// Import accounts and courses from JSON Lines, all or nothing
    Import(ImportArguments),
    /// Export all accounts and courses as JSON Lines, for `import`
    #[command(after_help = "\
Example: a copy of everything except credentials
  catalogue export --database sqlite:catalogue.db > courses.jsonl")]
    Export {
        /// Export only this account, with its courses; may be repeated
        ///
        /// [default: all]
        #[arg(long = "account", value_name = "ID")]
        accounts: Vec<String>,
        /// Accepted for consistency; the output is always JSON Lines
        #[arg(long)]
        json: bool,
    },
    /// Copy an SQLite database that is in use
    Backup(BackupArguments),
    /// List, show and remove accounts
    #[command(subcommand, arg_required_else_help = false, after_help = accounts::ACCOUNTS_EXAMPLE)]
    Accounts(AccountsCommand),
    /// Create, list, find, rotate, revoke and check API keys
    #[command(subcommand, arg_required_else_help = false, after_help = credentials::KEYS_EXAMPLE)]
    Keys(KeysCommand),
    /// Create and list OAuth tokens, and check and revoke signed ones
    #[command(subcommand, arg_required_else_help = false, after_help = tokens::TOKENS_EXAMPLE)]
    Tokens(TokensCommand),
    /// Create sign-in links for the developer settings, and end sessions
    #[command(subcommand, arg_required_else_help = false, after_help = developer_settings::SETTINGS_EXAMPLE)]
    Settings(SettingsCommand),
    /// Print SQL for views over the courses of another program, and check them
    #[command(subcommand, arg_required_else_help = false, after_help = views::VIEWS_EXAMPLE)]
    Views(ViewsCommand),
    /// Print a document of the API, without a server or database
    Openapi(OpenapiArguments),
    /// Create or migrate the database
    Migrate(MigrateArguments),
    /// Show the effective configuration or print a template
    #[command(subcommand, arg_required_else_help = false, after_help = CONFIG_EXAMPLE)]
    Config(ConfigCommand),
    /// Check a deployment with the settings of `serve`, and report problems
    #[command(after_help = "\
Exit status: 0 success, even with warnings; 1 errors; 2 invalid settings.

Example: with the settings of a server
  catalogue doctor --config /etc/catalogue/catalogue.toml")]
    Doctor {
        /// Print a JSON object instead of lines
        #[arg(long)]
        json: bool,
    },
    /// Probe a running server, for a container's health check
    #[command(after_help = "\
Without a URL, requests the documents of the local server that the environment
and the configuration file describe (CATALOGUE_LISTEN, CATALOGUE_DOCS_URL). If
CATALOGUE_TLS_CERT is set, the request over plain HTTP must get a 400.

Exit status: 0 expected response; 1 no or another response.

Example: a server with --admin-listen 127.0.0.1:9090
  catalogue health http://127.0.0.1:9090/ready")]
    Health {
        /// Plain HTTP URL to request: http://ADDRESS:PORT/PATH
        ///
        /// [default: the documents of the server with these settings, which need no key]
        url: Option<String>,
    },
    /// Print a shell completion script
    #[command(after_help = "\
Example: for bash
  catalogue completions bash > /etc/bash_completion.d/catalogue")]
    Completions {
        /// Shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print the manual page, or write a page for each command
    #[command(after_help = "\
Example: install all pages
  catalogue man --out /usr/local/share/man/man1")]
    Man {
        /// Directory for a page of each command, instead of printing the page of the program
        #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
        out: Option<PathBuf>,
    },
}

/// `catalogue config`
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show the effective settings of `serve` with their sources, or all problems
    ///
    /// Takes the options of `serve`. Shows no passwords, and opens no database or listener.
    #[command(after_help = CONFIG_EXAMPLE)]
    Check {
        /// Print a JSON object instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Print a configuration file with every key, its default and its help, as comments
    #[command(after_help = "\
Example: a new configuration file
  catalogue config example > catalogue.toml")]
    Example,
}

#[cfg(test)]
mod tests {
    use super::command;
    use crate::settings::table;

    #[test]
    fn command_definitions_are_consistent() {
        command().debug_assert();
    }

    #[test]
    fn serve_help_lists_all_settings_with_variables() {
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
    fn every_help_contains_an_example() {
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

//! The commands for those who operate a server.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use clap_complete::Shell;

use super::ServeArguments;

pub(super) const DOCTOR_EXAMPLE: &str = "\
Exit status: 0 where nothing is at fault, with or without warnings; 1 where
something is; 2 where the settings are wrong.

Example: with the settings of a server
  catalogue doctor --config /etc/catalogue/catalogue.toml";

/// `catalogue doctor`
#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Prints one JSON object instead of lines
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) serve: ServeArguments,
}

/// `catalogue health`
#[derive(Debug, Args)]
#[command(after_help = "\
Without a URL, the documents of the server that the environment and the
configuration file describe are asked for on this machine: CATALOGUE_LISTEN,
CATALOGUE_DOCS_URL, and over HTTPS where CATALOGUE_TLS_CERT is set. Its
certificate is not verified then: it names the server to clients.

Exit status: 0 where the answer is a success, 1 where there is none or another.

Example: a server with --admin-listen 127.0.0.1:9090
  catalogue health http://127.0.0.1:9090/ready")]
pub(crate) struct HealthArguments {
    /// What to ask for, over plain HTTP: http://ADDRESS:PORT/PATH
    ///
    /// [default: the documents, which need no key, of the server with these settings]
    pub(crate) url: Option<String>,
}

/// `catalogue completions`
#[derive(Debug, Args)]
#[command(after_help = "\
Example: for bash
  catalogue completions bash > /etc/bash_completion.d/catalogue")]
pub(crate) struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// `catalogue man`
#[derive(Debug, Args)]
#[command(after_help = "\
Example: all pages, for man to find
  catalogue man --out /usr/local/share/man/man1")]
pub(crate) struct ManArguments {
    /// The directory to write a page for each command into; without it the page of the program is printed
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
}

//! `catalogue completions`

use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArguments};
use crate::exit::Failure;
use crate::output;

pub(super) fn run(arguments: &CompletionsArguments) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "catalogue", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}

//! `catalogue config`

mod check;
mod example;

use super::Context;
use crate::cli::ConfigCommand;
use crate::exit::Failure;
use crate::output;

pub(super) fn run(command: ConfigCommand, context: Context) -> Result<(), Failure> {
    match command {
        ConfigCommand::Check(arguments) => check::run(arguments.json, context),
        ConfigCommand::Example => output::print(&example::file()),
    }
}

//! `catalogue man`

use std::io;
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::cli::{Cli, ManArguments};
use crate::exit::Failure;
use crate::output;

pub(super) fn run(arguments: ManArguments) -> Result<(), Failure> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    match arguments.out {
        Some(directory) => write_pages(&command, &directory).map_err(|error| {
            Failure::work(format!("the manual pages cannot be written to {}: {error}", directory.display()))
        }),
        None => {
            let mut text = Vec::new();
            page(command).render(&mut text).map_err(|error| Failure::because(&error))?;
            output::print(&String::from_utf8_lossy(&text))
        }
    }
}

/// A page for the command and for each one below it, such as `catalogue-keys-list.1`.
fn write_pages(command: &Command, directory: &Path) -> io::Result<()> {
    page(command.clone()).generate_to(directory)?;
    command.get_subcommands().try_for_each(|inner| write_pages(inner, directory))
}

fn page(command: Command) -> Man {
    Man::new(command).manual("catalogue").source(concat!("catalogue ", env!("CARGO_PKG_VERSION")))
}

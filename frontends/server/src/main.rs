//! The course catalogue API as a standalone program.

mod cli;
mod commands;
mod config;
mod database;
mod duration;
mod exit;
mod export;
mod http;
mod import;
mod logging;
mod output;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match cli::Cli::try_parse() {
        Ok(cli) => match commands::run(cli) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failure.report(),
        },
        Err(wrong_or_help) => {
            // Help goes to standard output and may meet a closed pipe, which is no fault.
            let _ = wrong_or_help.print();
            ExitCode::from(u8::try_from(wrong_or_help.exit_code()).unwrap_or(2))
        }
    }
}

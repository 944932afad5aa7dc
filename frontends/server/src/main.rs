//! The course catalogue API as a standalone program.

mod admin;
mod api;
mod cli;
mod commands;
mod config;
mod database;
mod duration;
mod exit;
mod export;
mod http;
mod import;
mod last_uses;
mod logging;
mod metrics;
mod open_files;
mod otlp;
mod output;
mod per_thread;
mod rate_limit;
mod size;
mod systemd;
mod text;

use std::process::ExitCode;

use clap::Parser;

use exit::Failure;

fn main() -> ExitCode {
    match cli::Cli::try_parse() {
        Ok(cli) => match commands::run(cli) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failure.report(),
        },
        Err(wrong) if wrong.use_stderr() => mistake(&wrong).report(),
        Err(help) => {
            // Help goes to standard output and may meet a closed pipe, which is no fault.
            let _ = help.print();
            ExitCode::SUCCESS
        }
    }
}

/// A mistake that clap has found, to be shown as all others are: it repeats arguments whatever is in them.
fn mistake(error: &clap::Error) -> Failure {
    let text = error.to_string();
    Failure::usage(text.strip_prefix("error: ").unwrap_or(&text))
}

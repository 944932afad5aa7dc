//! Logs, on standard error.

use std::io;

use tracing_subscriber::EnvFilter;

use crate::config::Sourced;
use crate::exit::Failure;
use crate::output;

/// What is logged unless `--log` says otherwise.
const DEFAULT: &str = "info";

/// Starts logging by a filter in tracing's syntax.
pub(crate) fn start(filter: Option<Sourced<String>>) -> Result<(), Failure> {
    let filter = filter.unwrap_or_else(|| Sourced::default(DEFAULT.to_owned()));
    let filter = filter.parse(|text| {
        EnvFilter::builder().parse(text).map_err(|error| {
            format!("{text:?} is not a log filter: {error}; write a level like info, or target=level, with commas")
        })
    })?;
    let started = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_ansi(output::stderr_takes_colours())
        // It would panic where standard error is closed.
        .log_internal_errors(false)
        .with_env_filter(filter)
        .try_init();
    started.map_err(|error| Failure::work(format!("logging cannot start: {error}")))
}

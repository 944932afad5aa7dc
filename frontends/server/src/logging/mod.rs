//! Logs, on standard error: from `tracing` to lines of text or of JSON.
//!
//! What serves hands its lines over to a thread ([`sink`]), so that a standard error that nobody reads holds no request up.

mod access;
mod filter;
mod lines;
mod sink;
#[cfg(test)]
mod tests;

use std::panic::{self, PanicHookInfo};
use std::sync::Arc;

use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Registry, reload};

use crate::exit::Failure;

pub(crate) use access::{AccessLog, is_refused, method_name};
pub(crate) use filter::{LEVELS, parse as parse_filter};
pub(crate) use lines::Format;
use lines::Lines;
pub(crate) use sink::Sink;

/// What changes the filter, whoever has it.
type Reloader = reload::Handle<EnvFilter, Registry>;

/// The logs of this process. What waits to be written is written when this is dropped.
#[derive(Debug)]
pub(crate) struct Logs {
    /// What changes the filter.
    pub(crate) reloader: Reloader,
    /// Where lines go.
    pub(crate) sink: Arc<Sink>,
}

impl Logs {
    /// Starts logging what the filter says, to that sink.
    pub(crate) fn start(filter: EnvFilter, format: Format, sink: Sink) -> Result<Self, Failure> {
        let (filter, reloader) = reload::Layer::new(filter);
        let sink = Arc::new(sink);
        let lines = Lines::new(format, Arc::clone(&sink));
        let started = tracing_subscriber::registry().with(filter).with(lines).try_init();
        started.map_err(|error| Failure::work(format!("logging cannot start: {error}")))?;
        panic::set_hook(Box::new(log_panic));
        Ok(Self { reloader, sink })
    }
}

/// Changes what is logged. What is wrong with the filter is told to the log, which then stays as it is.
pub(crate) fn reload(reloader: &Reloader, filter: Result<EnvFilter, Failure>) {
    match filter.map(|filter| (filter.to_string(), reloader.reload(filter))) {
        Ok((filter, Ok(()))) => tracing::info!(filter, "read again what is to be logged"),
        Ok((_, Err(error))) => tracing::error!(%error, "what is to be logged cannot be changed"),
        Err(failure) => tracing::error!(error = failure.message(), "what is to be logged stays as it is"),
    }
}

impl Drop for Logs {
    fn drop(&mut self) {
        // The subscriber has the sink too, and stays as long as the process.
        self.sink.finish();
    }
}

/// A panic is a line of the log like any other: written by itself, it could wait for standard error.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let message = panic.payload_as_str().unwrap_or("of a value that is no text");
    let location = panic.location().map(tracing::field::display);
    tracing::error!(location, message, "panicked");
}

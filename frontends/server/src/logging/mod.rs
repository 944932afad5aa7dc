//! Logging to standard error: `tracing` events as lines of text or of JSON.
//!
//! Servers pass their lines to a thread ([`sink`]), so that a blocked standard error delays no request.

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

/// Handle that changes the log filter.
type Reloader = reload::Handle<EnvFilter, Registry>;

/// The log of this process. Dropping it writes the queued lines.
#[derive(Debug)]
pub(crate) struct Logs {
    pub(crate) reloader: Reloader,
    /// Destination of the lines.
    pub(crate) sink: Arc<Sink>,
}

impl Logs {
    /// Starts logging what the filter selects to `sink`.
    pub(crate) fn start(filter: EnvFilter, format: Format, sink: Sink) -> Result<Self, Failure> {
        let (filter, reloader) = reload::Layer::new(filter);
        let sink = Arc::new(sink);
        let lines = Lines::new(format, Arc::clone(&sink));
        let started = tracing_subscriber::registry().with(filter).with(lines).try_init();
        started.map_err(|error| Failure::work(format!("cannot start logging: {error}")))?;
        panic::set_hook(Box::new(log_panic));
        Ok(Self { reloader, sink })
    }
}

/// Changes the filter. If the new one is invalid, logs that and keeps the current one.
pub(crate) fn reload(reloader: &Reloader, filter: Result<EnvFilter, Failure>) {
    match filter.map(|filter| (filter.to_string(), reloader.reload(filter))) {
        Ok((filter, Ok(()))) => tracing::info!(filter, "reloaded the log filter"),
        Ok((_, Err(error))) => tracing::error!(%error, "cannot change the log filter"),
        Err(failure) => {
            tracing::error!(error = failure.message(), "cannot reload the log filter; keeping the current one");
        }
    }
}

impl Drop for Logs {
    fn drop(&mut self) {
        // Explicit, because the subscriber also holds the sink and is never dropped.
        self.sink.finish();
    }
}

/// Logs a panic like any other event: the default hook writes by itself and could block on standard error.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let message = panic.payload_as_str().unwrap_or("the payload is not a string");
    let location = panic.location().map(tracing::field::display);
    tracing::error!(location, message, "panicked");
}

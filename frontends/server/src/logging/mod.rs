//! Logs, on standard error: from `tracing` to lines of text or of JSON.
//!
//! What serves hands its lines over to a thread of their own ([`sink`]), so a standard error that nobody reads holds no
//! request up. All other commands write at once.

mod access;
mod fields;
mod filter;
mod format;
mod lines;
mod sink;
#[cfg(test)]
mod tests;

use std::panic::{self, PanicHookInfo};
use std::path::PathBuf;
use std::sync::Arc;

use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Registry, reload};

use crate::config::Layers;
use crate::exit::Failure;

pub(crate) use access::AccessLog;
#[cfg(feature = "otel")]
pub(crate) use access::{limit, method};
pub(crate) use filter::LEVELS;
pub(crate) use format::Format;
use lines::Lines;
pub(crate) use sink::Sink;

/// What the command line says of the logs, kept so that the other layers can be asked again.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogArguments {
    pub(crate) log: Option<String>,
    pub(crate) format: Option<String>,
    /// What `--config` names.
    pub(crate) config: Option<PathBuf>,
}

/// The logs of this process. What waits to be written is written when this is dropped.
#[derive(Debug)]
pub(crate) struct Logs {
    arguments: LogArguments,
    filter: reload::Handle<EnvFilter, Registry>,
    sink: Arc<Sink>,
}

impl Logs {
    /// Starts logging as the layers say, to that sink.
    pub(crate) fn start(layers: &Layers, arguments: LogArguments, sink: Sink) -> Result<Self, Failure> {
        let format = Format::named(layers, arguments.format.clone())?;
        let (filter, handle) = reload::Layer::new(filter::named(layers, arguments.log.clone())?);
        let sink = Arc::new(sink);
        let lines = Lines::new(format, Arc::clone(&sink));
        let started = tracing_subscriber::registry().with(filter).with(lines).try_init();
        started.map_err(|error| Failure::work(format!("logging cannot start: {error}")))?;
        panic::set_hook(Box::new(log_panic));
        Ok(Self { arguments, filter: handle, sink })
    }

    /// Reads from the environment and the configuration file again what is to be logged. `--log` on the command line
    /// still wins. What is wrong is told to the log, which then stays as it is.
    pub(crate) fn reload(&self) {
        let LogArguments { log, config, .. } = self.arguments.clone();
        let found = Layers::of_this_process(config).sound().and_then(|layers| filter::named(&layers, log));
        match found.map(|filter| (filter.to_string(), self.filter.reload(filter))) {
            Ok((filter, Ok(()))) => tracing::info!(filter, "read again what is to be logged"),
            Ok((_, Err(error))) => tracing::error!(%error, "what is to be logged cannot be changed"),
            Err(failure) => tracing::error!(error = failure.message(), "what is to be logged stays as it is"),
        }
    }

    /// Where lines go.
    pub(crate) fn sink(&self) -> Arc<Sink> {
        Arc::clone(&self.sink)
    }
}

impl Drop for Logs {
    fn drop(&mut self) {
        // The subscriber has the sink too, and stays as long as the process.
        self.sink.finish();
    }
}

/// Whether what the layers say of logs can be.
pub(crate) fn check(layers: &Layers) -> Result<(), Failure> {
    Format::named(layers, None)?;
    filter::named(layers, None).map(drop)
}

/// A panic is a line of the log like any other: written by itself, it could wait for standard error.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let message = panic.payload_as_str().unwrap_or("of a value that is no text");
    let location = panic.location().map(tracing::field::display);
    tracing::error!(location, message, "panicked");
}

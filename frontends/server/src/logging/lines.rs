//! [`Lines`]: what makes a line of an event, in one of two formats.

use std::cell::RefCell;
use std::io::Write as _;
use std::sync::Arc;

use catalogue_core::Timestamp;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

use super::Sink;
use super::fields::Fields;
use crate::output;

/// A buffer that has become larger is not kept.
const KEPT: usize = 16 << 10;

/// What a line looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// For programs: an object on each line.
    Json,
}

impl Format {
    /// Reads its name.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err(format!("{text:?} is not a format of the log; write text or json")),
        }
    }
}

/// Makes a line of each event. Spans are left out: nothing here opens any.
///
/// Each thread has a buffer of its own, so that a line costs no allocation.
pub(super) struct Lines {
    format: Format,
    coloured: bool,
    sink: Arc<Sink>,
}

impl Lines {
    pub(super) fn new(format: Format, sink: Arc<Sink>) -> Self {
        Self { format, coloured: output::stderr_takes_colours(), sink }
    }
}

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        thread_local!(static LINE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) });

        // The buffer is taken meanwhile, as a value may log something when it is shown.
        let mut line = LINE.try_with(RefCell::take).unwrap_or_default();
        match self.format {
            Format::Text => write_text(event, self.coloured, &mut line),
            Format::Json => write_json(event, &mut line),
        }
        self.sink.write(&line);
        if line.capacity() <= KEPT {
            line.clear();
            let _ = LINE.try_with(|kept| kept.replace(line));
        }
    }
}

/// `2026-01-02T03:04:05.678Z  INFO target: message name=value`
fn write_text(event: &Event<'_>, coloured: bool, line: &mut Vec<u8>) {
    let metadata = event.metadata();
    let (level, colour) = level(*metadata.level());
    write!(line, "{} ", Timestamp::now()).expect("a Vec takes all");
    let level = if coloured { [colour, level, PLAIN] } else { ["", level, ""] };
    for part in level.into_iter().chain([" ", metadata.target(), ":"]) {
        line.extend_from_slice(part.as_bytes());
    }
    event.record(&mut Fields::<false>(line));
    line.push(b'\n');
}

/// `{"timestamp":"2026-01-02T03:04:05.678Z","level":"INFO","target":"target","message":"message","name":value}`
fn write_json(event: &Event<'_>, line: &mut Vec<u8>) {
    let metadata = event.metadata();
    let (now, level, target) = (Timestamp::now(), metadata.level().as_str(), metadata.target());
    write!(line, r#"{{"timestamp":"{now}","level":"{level}","target":"{target}""#).expect("a Vec takes all");
    event.record(&mut Fields::<true>(line));
    line.extend_from_slice(b"}\n");
}

/// Ends a colour on a terminal.
const PLAIN: &str = "\u{1b}[0m";

/// The name of a level, to the right of five places, and its colour.
fn level(level: Level) -> (&'static str, &'static str) {
    match level {
        Level::ERROR => ("ERROR", "\u{1b}[31m"),
        Level::WARN => (" WARN", "\u{1b}[33m"),
        Level::INFO => (" INFO", "\u{1b}[32m"),
        Level::DEBUG => ("DEBUG", "\u{1b}[34m"),
        _ => ("TRACE", "\u{1b}[34m"),
    }
}

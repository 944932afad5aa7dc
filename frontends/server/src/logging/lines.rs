//! [`Lines`]: formats each event as one line of text or JSON, whatever its fields contain.

use std::cell::RefCell;
use std::error::Error;
use std::fmt::Debug;
use std::io::Write as _;
use std::sync::Arc;

use catalogue_core::Timestamp;
use itoa::{Buffer, Integer};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

use super::Sink;
use crate::exit::chain;
use crate::output;
use crate::text::{json, printable};

/// Maximum capacity in bytes of a buffer that is reused.
const MAX_LINE_CAPACITY: usize = 16 << 10;

/// Format of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// For programs: an object on each line.
    Json,
}

/// Formats each event as a line. Ignores spans, because this program opens none.
///
/// Each thread reuses a buffer, which saves an allocation for each line.
pub(super) struct Lines {
    format: Format,
    colored: bool,
    sink: Arc<Sink>,
}

impl Lines {
    pub(super) fn new(format: Format, sink: Arc<Sink>) -> Self {
        Self { format, colored: output::stderr_supports_color(), sink }
    }
}

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        thread_local!(static LINE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) });

        // Takes the buffer out of the cell, because a value may log an event while it is formatted.
        let mut line = LINE.try_with(RefCell::take).unwrap_or_default();
        match self.format {
            Format::Text => write_text(event, self.colored, &mut line),
            Format::Json => write_json(event, &mut line),
        }
        self.sink.write(&line);
        if line.capacity() <= MAX_LINE_CAPACITY {
            line.clear();
            let _ = LINE.try_with(|buffer| buffer.replace(line));
        }
    }
}

/// Writes `2026-01-02T03:04:05.678Z  INFO target: message name=value`.
fn write_text(event: &Event<'_>, colored: bool, line: &mut Vec<u8>) {
    let metadata = event.metadata();
    let (level, color) = level(*metadata.level());
    write!(line, "{} ", Timestamp::now()).expect("a Vec accepts all bytes");
    let level = if colored { [color, level, PLAIN] } else { ["", level, ""] };
    for part in level.into_iter().chain([" ", metadata.target(), ":"]) {
        line.extend_from_slice(part.as_bytes());
    }
    event.record(&mut Fields::<false>(line));
    line.push(b'\n');
}

/// Writes `{"timestamp":"2026-01-02T03:04:05.678Z","level":"INFO","target":"target","message":"message","name":value}`.
fn write_json(event: &Event<'_>, line: &mut Vec<u8>) {
    let metadata = event.metadata();
    let (now, level, target) = (Timestamp::now(), metadata.level().as_str(), metadata.target());
    write!(line, r#"{{"timestamp":"{now}","level":"{level}","target":"{target}""#).expect("a Vec accepts all bytes");
    event.record(&mut Fields::<true>(line));
    line.extend_from_slice(b"}\n");
}

/// Escape sequence that ends a color.
const PLAIN: &str = "\u{1b}[0m";

/// Returns the name of a level, right-aligned in five columns, and its color.
fn level(level: Level) -> (&'static str, &'static str) {
    match level {
        Level::ERROR => ("ERROR", "\u{1b}[31m"),
        Level::WARN => (" WARN", "\u{1b}[33m"),
        Level::INFO => (" INFO", "\u{1b}[32m"),
        Level::DEBUG => ("DEBUG", "\u{1b}[34m"),
        _ => ("TRACE", "\u{1b}[34m"),
    }
}

/// Name of the field in which `tracing` stores an event's text.
const MESSAGE: &str = "message";

/// Appends fields to a line: ` message name="text" name=value`, or as JSON `,"message":"text","name":"text","name":value`.
struct Fields<'l, const JSON: bool>(&'l mut Vec<u8>);

impl<const JSON: bool> Fields<'_, JSON> {
    /// Appends a field's name unescaped: names come from code.
    fn name(&mut self, field: &Field) {
        let name = field.name();
        let (before, behind): (&[u8], &[u8]) = if JSON { (b",\"", b"\":") } else { (b" ", b"=") };
        self.0.extend_from_slice(before);
        if JSON || name != MESSAGE {
            self.0.extend_from_slice(name.as_bytes());
            self.0.extend_from_slice(behind);
        }
    }

    fn number(&mut self, field: &Field, value: impl Integer) {
        self.name(field);
        self.0.extend_from_slice(Buffer::new().format(value).as_bytes());
    }
}

impl<const JSON: bool> Visit for Fields<'_, JSON> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.name(field);
        if JSON {
            // No early exit: a branch-free loop is vectorized.
            if value.bytes().fold(true, |ascii, byte| ascii & (byte < 0x7f)) {
                return serde_json::to_writer(&mut *self.0, value).expect("a string can be serialized");
            }
            return self.0.extend_from_slice(json(value).expect("a string can be serialized").as_bytes());
        }
        let is_plain = |byte: u8| matches!(byte, b' '..=b'~') & (byte != b'"') & (byte != b'\\');
        // No early exit, as above.
        if value.bytes().fold(true, |plain, byte| plain & is_plain(byte)) {
            self.0.push(b'"');
            self.0.extend_from_slice(value.as_bytes());
            self.0.push(b'"');
        } else {
            write!(self.0, "{value:?}").expect("a Vec accepts all bytes");
        }
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.record_str(field, &chain(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.number(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.number(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.name(field);
        self.0.extend_from_slice(if value { b"true" } else { b"false" });
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if !JSON {
            return self.record_debug(field, &value);
        }
        self.name(field);
        // JSON has no NaN and no infinity: both become null.
        serde_json::to_writer(&mut *self.0, &value).expect("a number can be serialized");
    }

    /// Appends the message, numbers of other types, and values recorded by `%` or `?`.
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let text = format!("{value:?}");
        if JSON {
            return self.record_str(field, &text);
        }
        self.name(field);
        self.0.extend_from_slice(printable(&text).as_bytes());
    }
}

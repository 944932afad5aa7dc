//! Writes results to standard output and messages to standard error, and checks where both lead.

use std::env;
use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::{AutoStream, ColorChoice};
use catalogue_core::Timestamp;
use serde::Serialize;

use crate::exit::Failure;
use crate::logging::Format;
use crate::settings::table::LOG_FORMAT;
use crate::text::json;

/// Writes `text` to standard output, and a line feed unless it ends with one.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    write!(stdout, "{text}{end}").and_then(|()| stdout.flush()).map_err(|error| write_failure(&error))
}

/// Writes `value` to standard output as one line of JSON.
pub(crate) fn print_json<T: Serialize>(value: &T) -> Result<(), Failure> {
    print(&json(value)?)
}

/// Whether standard error gets JSON, one object a line.
static JSON: AtomicBool = AtomicBool::new(false);

/// Sets the format of messages on standard error: the format of the log.
pub(crate) fn set_format(format: Format) {
    JSON.store(format == Format::Json, Ordering::Relaxed);
}

/// Guesses the format of standard error from the environment and from a command line that cannot be parsed.
pub(crate) fn guess_format() {
    let arguments: Vec<_> = env::args_os().collect();
    let is_json_requested = arguments.windows(2).any(|pair| pair[0] == "--log-format" && pair[1] == "json")
        || arguments.iter().any(|argument| argument == "--log-format=json")
        || env::var_os(LOG_FORMAT.variable()).is_some_and(|format| format == "json");
    set_format(if is_json_requested { Format::Json } else { Format::Text });
}

/// Writes a line to standard error. Ignores errors: it may be closed or full.
pub(crate) fn print_note(text: &str) {
    write_line("INFO", "", text);
}

/// Like [`print_note`], but at `level`. `label` precedes the text, but not in JSON.
pub(crate) fn write_line(level: &str, label: &str, text: &str) {
    let line = if JSON.load(Ordering::Relaxed) {
        let (now, text) = (Timestamp::now(), json(text).expect("a string can be serialized"));
        format!(r#"{{"timestamp":"{now}","level":"{level}","target":"catalogue","message":{text}}}"#)
    } else {
        format!("{label}{text}")
    };
    let mut stderr = io::stderr().lock();
    let _ = writeln!(stderr, "{line}").and_then(|()| stderr.flush());
}

/// Writes a question to standard error, without a line feed: the answer ends the line.
pub(crate) fn prompt(question: &str) {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "{question}").and_then(|()| stderr.flush());
}

/// Returns whether standard error may be colored. Depends on the terminal, `NO_COLOR`, `CLICOLOR` and `CLICOLOR_FORCE`.
pub(crate) fn stderr_supports_color() -> bool {
    AutoStream::choice(&io::stderr()) != ColorChoice::Never
}

/// Returns whether standard output is a regular file.
pub(crate) fn is_regular_file() -> bool {
    #[cfg(unix)]
    let is_regular_file = rustix::fs::fstat(io::stdout())
        .is_ok_and(|status| rustix::fs::FileType::from_raw_mode(status.st_mode) == rustix::fs::FileType::RegularFile);
    #[cfg(not(unix))]
    let is_regular_file = false;
    is_regular_file
}

/// Returns whether standard output is closed or `/dev/null`. The two cannot be distinguished, because Rust opens
/// `/dev/null` before `main` if standard output is closed.
fn is_discarded() -> bool {
    #[cfg(unix)]
    let is_discarded = match (rustix::fs::fstat(io::stdout()), rustix::fs::stat("/dev/null")) {
        (Ok(output), Ok(null)) => (output.st_mode, output.st_rdev) == (null.st_mode, null.st_rdev),
        _ => false,
    };
    #[cfg(not(unix))]
    let is_discarded = false;
    is_discarded
}

/// Refuses work whose only result is output that would be lost. `undone` states what was not done, and `why` adds a reason.
pub(crate) fn check_output_visible(undone: &str, why: &str) -> Result<(), Failure> {
    let message =
        || format!("{undone}: standard output is closed or /dev/null{why}; direct it to a terminal, a pipe or a file");
    if is_discarded() { Err(Failure::work(message())) } else { Ok(()) }
}

/// Returns the failure for an error of writing standard output.
pub(crate) fn write_failure(error: &io::Error) -> Failure {
    match error.kind() {
        ErrorKind::BrokenPipe => Failure::reader_disconnected(),
        _ => Failure::work(format!("standard output cannot be written: {error}")),
    }
}

//! The only place that writes to standard output and standard error.

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

/// Writes `text` to standard output, and a line feed where it has none at its end.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    write!(stdout, "{text}{end}").and_then(|()| stdout.flush()).map_err(|error| failed(&error))
}

/// Writes `value` to standard output as one line of JSON.
pub(crate) fn print_json<T: Serialize>(value: &T) -> Result<(), Failure> {
    print(&json(value)?)
}

/// Whether what is written to standard error is JSON, an object a line.
static JSON: AtomicBool = AtomicBool::new(false);

/// From now on standard error has the format of the log.
pub(crate) fn set_format(format: Format) {
    JSON.store(format == Format::Json, Ordering::Relaxed);
}

/// Whether a command line that cannot be read asks for JSON, as far as can be seen.
pub(crate) fn guess_format() {
    let arguments: Vec<_> = env::args_os().collect();
    let is_asked = arguments.windows(2).any(|pair| pair[0] == "--log-format" && pair[1] == "json")
        || arguments.iter().any(|argument| argument == "--log-format=json")
        || env::var_os(LOG_FORMAT.variable()).is_some_and(|format| format == "json");
    set_format(if is_asked { Format::Json } else { Format::Text });
}

/// Writes a line to standard error. One that is closed or full is no reason to fail.
pub(crate) fn note(text: &str) {
    say("INFO", "", text);
}

/// The same, of that level. What stands before the text is for people.
pub(crate) fn say(level: &str, label: &str, text: &str) {
    let line = if JSON.load(Ordering::Relaxed) {
        let (now, text) = (Timestamp::now(), json(text).expect("a text is JSON"));
        format!(r#"{{"timestamp":"{now}","level":"{level}","target":"catalogue","message":{text}}}"#)
    } else {
        format!("{label}{text}")
    };
    let mut stderr = io::stderr().lock();
    let _ = writeln!(stderr, "{line}").and_then(|()| stderr.flush());
}

/// Asks something on standard error, in a line that the answer ends.
pub(crate) fn ask(question: &str) {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "{question}").and_then(|()| stderr.flush());
}

/// Whether standard error may be coloured: a terminal that knows colours, unless `NO_COLOR` or `CLICOLOR` say otherwise.
pub(crate) fn stderr_takes_colours() -> bool {
    AutoStream::choice(&io::stderr()) != ColorChoice::Never
}

/// Whether standard output goes to a file.
pub(crate) fn is_a_file() -> bool {
    #[cfg(unix)]
    let is_a_file = rustix::fs::fstat(io::stdout())
        .is_ok_and(|status| rustix::fs::FileType::from_raw_mode(status.st_mode) == rustix::fs::FileType::RegularFile);
    #[cfg(not(unix))]
    let is_a_file = false;
    is_a_file
}

/// Whether standard output is closed or `/dev/null`. Rust opens the latter in the place of the former before `main`, so the two
/// cannot be told apart.
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

/// Refuses what is done for its output alone if nobody would see it; `undone` says what is not done, and `why` more of why.
pub(crate) fn check_is_seen(undone: &str, why: &str) -> Result<(), Failure> {
    let message =
        || format!("{undone}: standard output is closed or /dev/null{why}; direct it to a terminal, a pipe or a file");
    if is_discarded() { Err(Failure::work(message())) } else { Ok(()) }
}

/// What it means that standard output could not be written.
pub(crate) fn failed(error: &io::Error) -> Failure {
    match error.kind() {
        ErrorKind::BrokenPipe => Failure::reader_left(),
        _ => Failure::work(format!("standard output cannot be written: {error}")),
    }
}

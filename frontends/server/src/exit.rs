//! [`Failure`]: why a command ends without success, and the exit status that says so.

use std::error::Error;
use std::process::ExitCode;

pub(crate) use catalogue_core::chain;
use catalogue_core::storage::{StorageError, StorageErrorKind};

use crate::output;
use crate::redaction::without_secrets;
use crate::text::{printable, shortened};

/// Maximum length of a line, in bytes, whatever text stands in it.
const MAX_LINE: usize = 1_000;

/// Why a command ends without success.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The exit status: 1 if the work failed; 2 if the command line, the environment or the configuration is wrong; 128 and its
    /// number for a signal; 0 if the reader of standard output has disconnected, and then nothing is reported.
    status: u8,
    /// The error messages, some of several lines.
    messages: Vec<String>,
}

impl Failure {
    fn new(status: u8, message: impl AsRef<str>) -> Self {
        Self { status, messages: vec![harmless(message.as_ref())] }
    }

    /// The work failed.
    pub(crate) fn work(message: impl AsRef<str>) -> Self {
        Self::new(1, message)
    }

    /// A change failed. If its outcome is unknown, the message says that `what` is open, and that `look` shows it.
    pub(crate) fn of_change(error: &StorageError, what: &str, look: &str) -> Self {
        let why = chain(error);
        Self::work(match error.kind() {
            StorageErrorKind::OutcomeUnknown => format!("it is not known whether {what}: {why}; {look}"),
            _ => format!("nothing was changed: {why}"),
        })
    }

    /// The command line, the environment or the configuration is wrong.
    pub(crate) fn usage(message: impl AsRef<str>) -> Self {
        Self::new(2, message)
    }

    /// All that is wrong with a configuration, a message each.
    pub(crate) fn faults(messages: impl Iterator<Item = String>) -> Self {
        Self { status: 2, messages: messages.map(|message| harmless(&message)).collect() }
    }

    /// A message of several lines, with that exit status.
    pub(crate) fn in_lines<'l>(status: u8, lines: impl Iterator<Item = &'l str>) -> Self {
        Self { status, messages: vec![lines.map(harmless).collect::<Vec<_>>().join("\n")] }
    }

    /// A signal has ended the work, which leaves things as `what` says.
    pub(crate) fn interrupted(status: u8, what: &str) -> Self {
        Self::new(status, format!("interrupted; {what}"))
    }

    /// The reader of standard output has disconnected (`| head`), which is no error.
    pub(crate) fn reader_left() -> Self {
        Self::new(0, "nobody reads standard output")
    }

    /// Adds that the work failed after something was `done`.
    pub(crate) fn after(self, done: &str) -> Self {
        if self.status == 1 { Self::work(format!("{done}, but {}", self.message())) } else { self }
    }

    /// Returns what is wrong, for a log.
    pub(crate) fn message(&self) -> String {
        self.messages.join("\n")
    }

    /// Writes what is wrong to standard error, and returns the exit status.
    pub(crate) fn report(self) -> ExitCode {
        if self.status == 0 {
            return ExitCode::SUCCESS;
        }
        let label = label(output::stderr_takes_colours());
        self.messages.iter().for_each(|message| output::say("ERROR", label, &presentable(message)));
        ExitCode::from(self.status)
    }
}

/// The work failed because of the error and its causes.
impl<E: Error + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::work(chain(&error))
    }
}

/// Returns a text from outside as a message may show it: on one line, and without secrets.
pub(crate) fn harmless(text: &str) -> String {
    printable(&without_secrets(text)).into_owned()
}

/// What a message begins with; on a terminal bold and red.
fn label(coloured: bool) -> &'static str {
    if coloured { "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m " } else { "error: " }
}

/// Returns `message` as a terminal may see it: no line has control characters or is too long.
fn presentable(message: &str) -> String {
    message.lines().map(|line| shortened(&printable(line), MAX_LINE).into_owned()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_cannot_steer_the_terminal_nor_fill_it() {
        assert_eq!(presentable("a\u{1b}[2Jb\nc"), "a\\u{1b}[2Jb\nc");
        let long = presentable(&format!("{}; write less", "é\u{1b}".repeat(10_000)));
        assert!(long.len() < MAX_LINE + 10 && long.ends_with("; write less"), "{long}");
    }

    #[test]
    fn a_text_from_outside_makes_no_line_of_its_own() {
        let text = "x\nerror: nothing is wrong\u{2028}redis://:s3cret@h";
        let shown = "x\\nerror: nothing is wrong\\u{2028}redis://…@h";
        for failure in [Failure::work(text), Failure::usage(text)] {
            assert_eq!(failure.message(), shown);
        }
        let caused = Failure::from(std::io::Error::other(text));
        assert_eq!(caused.message(), "x error: nothing is wrong redis://…@h");
        let lines = [text, "y"].into_iter();
        for failure in [Failure::in_lines(2, lines.clone()), Failure::faults(lines.map(str::to_owned))] {
            assert_eq!(failure.message(), format!("{shown}\ny"));
        }
    }

    #[test]
    fn only_the_label_is_coloured() {
        assert_eq!(label(false), "error: ");
        assert!(label(true).contains("error:") && label(true).ends_with("\u{1b}[0m "));
    }
}

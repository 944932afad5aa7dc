//! [`Failure`]: an unsuccessful end of a command, with its exit status.

use std::error::Error;
use std::process::ExitCode;

pub(crate) use catalogue_core::chain;
use catalogue_core::storage::{StorageError, StorageErrorKind};

use crate::output;
use crate::redaction::without_secrets;
use crate::text::{printable, shortened};

/// Maximum length of a line of a message in bytes, not counting the ellipsis.
const MAX_LINE: usize = 1_000;

/// Unsuccessful end of a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The exit status: 1 if the work failed; 2 if the command line, the environment or the configuration is wrong; 128 plus
    /// the number of a signal; 0 if the reader of standard output has disconnected, and then nothing is reported.
    status: u8,
    /// The error messages, some of several lines.
    messages: Vec<String>,
}

impl Failure {
    fn new(status: u8, text: impl AsRef<str>) -> Self {
        Self { status, messages: vec![sanitized(text.as_ref())] }
    }

    /// Creates a failure of the work itself.
    pub(crate) fn work(message: impl AsRef<str>) -> Self {
        Self::new(1, message)
    }

    /// Creates the failure of a change. If the outcome is unknown, the message contains `what` (a clause) and `hint`.
    pub(crate) fn change_failed(error: &StorageError, what: &str, hint: &str) -> Self {
        let why = chain(error);
        Self::work(match error.kind() {
            StorageErrorKind::OutcomeUnknown => format!("it is not known whether {what}: {why}; {hint}"),
            _ => format!("nothing was changed: {why}"),
        })
    }

    /// Creates the failure for a wrong command line, environment or configuration.
    pub(crate) fn usage(message: impl AsRef<str>) -> Self {
        Self::new(2, message)
    }

    /// Creates a failure with a message for each problem of a configuration.
    pub(crate) fn errors(messages: impl Iterator<Item = String>) -> Self {
        Self { status: 2, messages: messages.map(|message| sanitized(&message)).collect() }
    }

    /// Creates a failure with a message of several lines.
    pub(crate) fn multiline<'l>(status: u8, lines: impl Iterator<Item = &'l str>) -> Self {
        Self { status, messages: vec![lines.map(sanitized).collect::<Vec<_>>().join("\n")] }
    }

    /// Creates the failure of work that a signal interrupted; `what` describes the state after it.
    pub(crate) fn interrupted(status: u8, what: &str) -> Self {
        Self::new(status, format!("interrupted; {what}"))
    }

    /// Creates the failure for standard output that its reader closed (`| head`). Not an error: the command exits silently.
    pub(crate) fn reader_disconnected() -> Self {
        Self::new(0, "standard output was closed by its reader")
    }

    /// Prefixes the message of failed work with `done`, a clause about what succeeded before.
    pub(crate) fn after(self, done: &str) -> Self {
        if self.status == 1 { Self::work(format!("{done}, but {}", self.message())) } else { self }
    }

    /// Returns the messages, joined by line feeds.
    pub(crate) fn message(&self) -> String {
        self.messages.join("\n")
    }

    /// Writes the messages to standard error, and returns the exit status.
    pub(crate) fn report(self) -> ExitCode {
        if self.status == 0 {
            return ExitCode::SUCCESS;
        }
        let label = label(output::stderr_supports_color());
        self.messages.iter().for_each(|message| output::write_line("ERROR", label, &presentable(message)));
        ExitCode::from(self.status)
    }
}

/// Creates a failure of the work from an error and its causes.
impl<E: Error + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::work(chain(&error))
    }
}

/// Sanitizes external text for a message: on one line, and without secrets.
pub(crate) fn sanitized(text: &str) -> String {
    printable(&without_secrets(text)).into_owned()
}

/// Returns the label that precedes a message, bold and red if `colored`.
fn label(colored: bool) -> &'static str {
    if colored { "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m " } else { "error: " }
}

/// Escapes control characters in `message`, and shortens long lines.
fn presentable(message: &str) -> String {
    message.lines().map(|line| shortened(&printable(line), MAX_LINE).into_owned()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_escaped_and_shortened() {
        assert_eq!(presentable("a\u{1b}[2Jb\nc"), "a\\u{1b}[2Jb\nc");
        let long = presentable(&format!("{}; write less", "é\u{1b}".repeat(10_000)));
        assert!(long.len() < MAX_LINE + 10 && long.ends_with("; write less"), "{long}");
    }

    #[test]
    fn external_text_adds_no_lines() {
        let text = "x\nerror: nothing is wrong\u{2028}redis://:s3cret@h";
        let expected = "x\\nerror: nothing is wrong\\u{2028}redis://…@h";
        for failure in [Failure::work(text), Failure::usage(text)] {
            assert_eq!(failure.message(), expected);
        }
        let caused = Failure::from(std::io::Error::other(text));
        assert_eq!(caused.message(), "x error: nothing is wrong redis://…@h");
        let lines = [text, "y"].into_iter();
        for failure in [Failure::multiline(2, lines.clone()), Failure::errors(lines.map(str::to_owned))] {
            assert_eq!(failure.message(), format!("{expected}\ny"));
        }
    }

    #[test]
    fn only_label_is_colored() {
        assert_eq!(label(false), "error: ");
        assert!(label(true).contains("error:") && label(true).ends_with("\u{1b}[0m "));
    }
}

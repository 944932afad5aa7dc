//! [`Failure`]: why a command ends without success, and the exit status that says so.

use std::error::Error;
use std::fmt::Write as _;
use std::process::ExitCode;

use catalogue_core::storage::{StorageError, StorageErrorKind};

use crate::output;
use crate::redaction::without_secrets;
use crate::text::{printable, shortened};

/// The longest message that is shown, in bytes and in lines: it fits on one screen, whatever text stands in it.
const LONGEST_MESSAGE: usize = 1_400;
const MOST_LINES: usize = 20;

/// The longest line of what is told in one line each.
const LONGEST_LINE: usize = 400;

/// Why a command ends without success.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The work failed: status 1.
    Work(String),
    /// The command line, the environment or the configuration is wrong: status 2.
    Usage(String),
    /// All that is wrong with a configuration, a line each: status 2. However many there are, none is kept back.
    Faults(String),
    /// The same with another status: all that is wrong with an input, a line each, or a signal that ended the work.
    Ended(String, u8),
    /// Whoever reads standard output has had enough (`| head`). That is no fault: status 0, and nothing is said.
    ReaderLeft,
}

impl Failure {
    /// The work failed.
    pub(crate) fn work(message: impl AsRef<str>) -> Self {
        Self::Work(harmless(message.as_ref()))
    }

    /// The work failed for that reason; its causes are told too.
    pub(crate) fn because(error: &dyn Error) -> Self {
        Self::work(chain(error))
    }

    /// A change failed. Where nobody knows whether it was made, `what` is said to be open, and `look` to show it.
    pub(crate) fn of_change(error: &StorageError, what: &str, look: &str) -> Self {
        let why = chain(error);
        Self::work(match error.kind() {
            StorageErrorKind::OutcomeUnknown => format!("it is not known whether {what}: {why}; {look}"),
            _ => format!("nothing was changed: {why}"),
        })
    }

    /// The command line, the environment or the configuration is wrong.
    pub(crate) fn usage(message: impl AsRef<str>) -> Self {
        Self::Usage(harmless(message.as_ref()))
    }

    /// The same, said in several lines.
    pub(crate) fn usage_in_lines<'l>(lines: impl Iterator<Item = &'l str>) -> Self {
        Self::Usage(joined(lines))
    }

    /// All that is wrong with a configuration.
    pub(crate) fn faults<'l>(lines: impl Iterator<Item = &'l str>) -> Self {
        Self::Faults(joined(lines))
    }

    /// All that is wrong with an input: status 1.
    pub(crate) fn faults_of_input<'l>(lines: impl Iterator<Item = &'l str>) -> Self {
        Self::Ended(joined(lines), 1)
    }

    /// A signal has ended the work, which leaves things as `what` says.
    pub(crate) fn interrupted(status: u8, what: &str) -> Self {
        Self::Ended(format!("interrupted; {what}"), status)
    }

    /// The same where something was done before it, which is said too.
    pub(crate) fn after(self, done: &str) -> Self {
        match self {
            Self::Work(why) => Self::work(format!("{done}, but {why}")),
            other => other,
        }
    }

    /// What is wrong, for a log.
    pub(crate) fn message(&self) -> &str {
        match self {
            Self::Work(message) | Self::Usage(message) | Self::Faults(message) | Self::Ended(message, _) => message,
            Self::ReaderLeft => "nobody reads standard output",
        }
    }

    /// Says on standard error what is wrong, and turns into the exit status.
    pub(crate) fn report(self) -> ExitCode {
        let (status, texts) = match self {
            Self::Work(message) => (1, vec![presentable(&message)]),
            Self::Usage(message) => (2, vec![presentable(&message)]),
            Self::Faults(message) => (2, presentable_lines(&message)),
            Self::Ended(message, status) => (status, vec![presentable_lines(&message).join("\n")]),
            Self::ReaderLeft => return ExitCode::SUCCESS,
        };
        let label = label(output::stderr_takes_colours());
        texts.iter().for_each(|text| output::say("ERROR", label, text));
        ExitCode::from(status)
    }
}

/// A text from outside, or with such in it, as a message may show it: on one line, and without secrets.
pub(crate) fn harmless(text: &str) -> String {
    printable(&without_secrets(text)).into_owned()
}

fn joined<'l>(lines: impl Iterator<Item = &'l str>) -> String {
    lines.map(harmless).collect::<Vec<_>>().join("\n")
}

/// An error and what caused it, in one line.
///
/// A message that says what would be right, behind a semicolon, is the last: its cause would say the same in the words of
/// a library. A cause that the next one repeats is left out.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = in_one_line(error);
    let mut last = text.clone();
    let mut cause = error.source();
    while let Some(error) = cause.filter(|_| !last.contains("; ")) {
        let message = in_one_line(error);
        cause = error.source();
        if !cause.is_some_and(|cause| in_one_line(cause).contains(&message)) {
            write!(text, ": {message}").expect("a String takes all");
        }
        last = message;
    }
    text
}

/// A database says what it has to say in several lines, some of them indented.
fn in_one_line(error: &dyn Error) -> String {
    let text = error.to_string();
    if text.contains(['\n', '\t']) { text.split_whitespace().collect::<Vec<_>>().join(" ") } else { text }
}

/// What a message begins with; on a terminal bold and red.
fn label(coloured: bool) -> &'static str {
    if coloured { "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m " } else { "error: " }
}

/// The message as a terminal may see it: no control characters but line feeds, and no more than a screen of it.
fn presentable(message: &str) -> String {
    let mut lines: Vec<_> = message.trim_end().split('\n').map(printable).collect();
    if lines.len() > MOST_LINES {
        // The lines that a value brings along are in the middle.
        lines.splice(MOST_LINES / 2..lines.len() - MOST_LINES / 2, ["…".into()]);
    }
    shortened(&lines.join("\n"), LONGEST_MESSAGE).into_owned()
}

/// The lines as a terminal may see them: all of them, each without control characters and of some length at most.
fn presentable_lines(message: &str) -> Vec<String> {
    message.split('\n').map(|line| shortened(&printable(line), LONGEST_LINE).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    #[test]
    fn messages_cannot_steer_the_terminal_nor_fill_it() {
        assert_eq!(presentable("a\u{1b}[2Jb\nc"), "a\\u{1b}[2Jb\nc");
        let long = presentable(&format!("{}; write less", "é\u{1b}".repeat(10_000)));
        assert!(long.len() < LONGEST_MESSAGE + 10 && long.ends_with("; write less"), "{long}");
        let high = presentable(&format!("first{}last", "\n".repeat(1_000)));
        assert!(high.lines().count() <= MOST_LINES + 1 && high.starts_with("first") && high.ends_with("last"));
    }

    #[test]
    fn a_text_from_outside_makes_no_line_of_its_own() {
        let text = "x\nerror: nothing is wrong\u{2028}redis://:s3cret@h";
        let shown = "x\\nerror: nothing is wrong\\u{2028}redis://…@h";
        for failure in [Failure::work(text), Failure::usage(text)] {
            assert_eq!(failure.message(), shown);
        }
        let caused = Failure::because(&std::io::Error::other(text));
        assert_eq!(caused.message(), "x error: nothing is wrong redis://…@h");
        for failure in [Failure::usage_in_lines([text, "y"].into_iter()), Failure::faults([text, "y"].into_iter())] {
            assert_eq!(failure.message(), format!("{shown}\ny"));
        }
    }

    #[test]
    fn of_many_faults_none_is_kept_back() {
        let faults = format!("a\u{1b}: wrong\n{}", "x".repeat(10_000));
        let shown = presentable_lines(&[&*faults; 28].join("\n"));
        assert!(shown.len() == 56 && shown[0] == "a\\u{1b}: wrong" && shown[1].starts_with('x'), "{shown:?}");
        assert!(shown.iter().all(|line| line.len() < LONGEST_LINE + 10), "{shown:?}");
    }

    #[test]
    fn a_hint_is_the_last_word_and_no_cause_is_told_twice() {
        #[derive(Debug)]
        struct Fault(&'static str, Option<Box<Self>>);
        impl fmt::Display for Fault {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.0)
            }
        }
        impl Error for Fault {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                self.1.as_deref().map(|cause| cause as _)
            }
        }
        let caused = |text, cause| Fault(text, Some(Box::new(cause)));
        let locked = || caused("locked", Fault("code 5: locked", None));
        assert_eq!(chain(&caused("cannot open", locked())), "cannot open: code 5: locked");
        assert_eq!(chain(&caused("in use; try again", locked())), "in use; try again");
        assert_eq!(chain(&caused("cannot open", caused("in use; wait", locked()))), "cannot open: in use; wait");
        let lines = || Fault("lost: refused\n\tIs  it running?\nDETAIL: none", None);
        assert_eq!(chain(&caused("away", lines())), "away: lost: refused Is it running? DETAIL: none");
        assert_eq!(chain(&caused("lost: refused\n\tIs it", lines())), chain(&caused("lost: refused Is it", lines())));
    }

    #[test]
    fn only_the_label_is_coloured() {
        assert_eq!(label(false), "error: ");
        assert!(label(true).contains("error:") && label(true).ends_with("\u{1b}[0m "));
    }
}

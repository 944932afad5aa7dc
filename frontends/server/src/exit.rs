//! [`Failure`]: why a command ends without success, and the exit status that says so.

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::process::ExitCode;

use crate::output;
use crate::text::{printable, shortened, without_passwords};

/// The longest message that is shown, in bytes and in lines: it must fit on one screen, whatever text from a file or
/// the command line stands in it.
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
    /// Whoever reads standard output has had enough (`| head`). That is no fault: status 0, and nothing is said.
    ReaderLeft,
}

impl Failure {
    /// The work failed.
    pub(crate) fn work(message: impl Into<String>) -> Self {
        Self::Work(message.into())
    }

    /// The work failed for that reason; its causes are told too.
    pub(crate) fn because(error: &dyn Error) -> Self {
        Self::Work(chain(error))
    }

    /// The command line, the environment or the configuration is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// What is wrong, for a log.
    pub(crate) fn message(&self) -> &str {
        match self {
            Self::Work(message) | Self::Usage(message) | Self::Faults(message) => message,
            Self::ReaderLeft => "nobody reads standard output",
        }
    }

    /// Says on standard error what is wrong, and turns into the exit status.
    pub(crate) fn report(self) -> ExitCode {
        let (message, status, presentable): (_, _, fn(&str) -> String) = match self {
            Self::Work(message) => (message, 1, presentable),
            Self::Usage(message) => (message, 2, presentable),
            Self::Faults(message) => (message, 2, presentable_lines),
            Self::ReaderLeft => return ExitCode::SUCCESS,
        };
        let arguments = env::args_os().map(|argument| argument.to_string_lossy().into_owned());
        let message = presentable(&without_passwords(message, arguments));
        output::note(&format!("{} {message}", label(output::stderr_takes_colours())));
        ExitCode::from(status)
    }
}

/// An error and what caused it, in one line.
///
/// A message that says what would be right, behind a semicolon, is the last: what caused it would say the same again in
/// the words of a library. So would a cause that the next one repeats.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut last = text.clone();
    let mut cause = error.source();
    while let Some(error) = cause.filter(|_| !last.contains("; ")) {
        let message = error.to_string();
        cause = error.source();
        if !cause.is_some_and(|cause| cause.to_string().contains(&message)) {
            write!(text, ": {message}").expect("a String takes all");
        }
        last = message;
    }
    text
}

/// What a message begins with; on a terminal bold and red.
fn label(coloured: bool) -> &'static str {
    if coloured { "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m" } else { "error:" }
}

/// The message as a terminal may see it: no control characters but line feeds, and no more than a screen of it.
fn presentable(message: &str) -> String {
    let lines: Vec<_> = message.trim_end().split('\n').map(printable).collect();
    if lines.len() <= MOST_LINES {
        return shortened(&lines.join("\n"), LONGEST_MESSAGE).into_owned();
    }
    // The lines that a value brings along are in the middle.
    let (start, end) = (&lines[..MOST_LINES / 2], &lines[lines.len() - MOST_LINES / 2..]);
    shortened(&format!("{}\n…\n{}", start.join("\n"), end.join("\n")), LONGEST_MESSAGE).into_owned()
}

/// The lines as a terminal may see them: all of them, each without control characters and of some length at most.
fn presentable_lines(message: &str) -> String {
    let lines = message.split('\n').map(|line| shortened(&printable(line), LONGEST_LINE).into_owned());
    lines.collect::<Vec<_>>().join("\n")
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
    fn of_many_faults_none_is_kept_back() {
        let faults = format!("a\u{1b}: wrong\n{}", "x".repeat(10_000));
        let shown = presentable_lines(&[&*faults; 28].join("\n"));
        assert!(shown.lines().count() == 56 && shown.starts_with("a\\u{1b}: wrong\nx"), "{shown}");
        assert!(shown.lines().all(|line| line.len() < LONGEST_LINE + 10), "{shown}");
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
    }

    #[test]
    fn only_the_label_is_coloured() {
        assert_eq!(label(false), "error:");
        assert!(label(true).contains("error:") && label(true).ends_with("\u{1b}[0m"));
    }
}

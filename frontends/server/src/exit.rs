//! [`Failure`]: why a command ends without success, and the exit status that says so.

use std::error::Error;
use std::fmt::Write as _;
use std::process::ExitCode;

use crate::output;

/// The longest message that is shown: a message must fit on one screen, whatever text from a file stands in it.
const LONGEST_MESSAGE: usize = 1_500;

/// Why a command ends without success.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The work failed: status 1.
    Work(String),
    /// The command line, the environment or the configuration is wrong: status 2.
    Usage(String),
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

    /// Says on standard error what is wrong, and turns into the exit status.
    pub(crate) fn report(self) -> ExitCode {
        let (message, status) = match self {
            Self::Work(message) => (message, 1),
            Self::Usage(message) => (message, 2),
            Self::ReaderLeft => return ExitCode::SUCCESS,
        };
        output::note(&format!("error: {}", presentable(&message)));
        ExitCode::from(status)
    }
}

/// An error and what caused it, in one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        write!(text, ": {error}").expect("a String takes all");
        cause = error.source();
    }
    text
}

/// The message as a terminal may see it: no control characters but line feeds, and no more than a screen of it.
fn presentable(message: &str) -> String {
    let mut shown = String::with_capacity(message.len().min(LONGEST_MESSAGE));
    for character in message.chars() {
        if shown.len() >= LONGEST_MESSAGE {
            shown.push('…');
            break;
        }
        if character.is_control() && character != '\n' {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_cannot_steer_the_terminal_nor_fill_it() {
        assert_eq!(presentable("a\u{1b}[2Jb\nc"), "a\\u{1b}[2Jb\nc");
        let long = presentable(&"é".repeat(10_000));
        assert!(long.len() < LONGEST_MESSAGE + 10 && long.ends_with('…'));
    }
}

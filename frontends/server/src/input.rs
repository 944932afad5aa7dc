//! Standard input as text.

use std::io::{self, IsTerminal as _, StdinLock};

use catalogue_core::Utf8Reader;

use crate::exit::Failure;
use crate::output;

/// Returns standard input as UTF-8. If it is a terminal, prints `hint` first.
pub(crate) fn stdin(hint: &str) -> Utf8Reader<StdinLock<'static>> {
    if io::stdin().is_terminal() {
        output::print_note(hint);
    }
    Utf8Reader::new(io::stdin().lock())
}

/// Returns the failure for an `error` while reading standard input.
pub(crate) fn unreadable(error: &io::Error) -> Failure {
    Failure::work(format!("cannot read standard input: {error}"))
}

//! [`Progress`]: how far an import has come, for whoever watches a terminal.

use std::io::{self, IsTerminal, Read};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on standard error while this value lives; nothing where standard error is no terminal. It has no colours.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Begins to show the reading of an input of that many bytes, if that is known.
    pub(crate) fn of(length: Option<u64>) -> Self {
        if !io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let (bar, template) = match length {
            Some(length) => (ProgressBar::new(length), "[{bar:40}] {bytes} of {total_bytes}"),
            None => (ProgressBar::no_length(), "{spinner} {bytes}"),
        };
        bar.set_draw_target(ProgressDrawTarget::stderr());
        bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    /// The input, watched while it is read.
    pub(crate) fn watch<R: Read>(&self, input: R) -> impl Read + use<R> {
        self.0.wrap_read(input)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

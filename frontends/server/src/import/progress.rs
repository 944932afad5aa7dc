//! [`Progress`]: how far an import has come, for whoever watches a terminal.

use std::io::{self, IsTerminal, Read};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

const BAR: &str = "{msg} [{bar:40}] {bytes} of {total_bytes}";
/// For an input of which nobody knows how long it is.
const SPINNER: &str = "{msg} {spinner} {bytes}";

/// A bar on standard error while this value lives; nothing where standard error is no terminal. It has no colours.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    /// What the second reading is for.
    then: &'static str,
}

impl Progress {
    /// Begins to show the reading of an input of that many bytes, if that is known, and `then` what it is read again for.
    pub(crate) fn of(length: Option<u64>, then: &'static str) -> Self {
        if !io::stderr().is_terminal() {
            return Self::hidden();
        }
        let bar = length.map_or_else(ProgressBar::no_length, ProgressBar::new).with_finish(ProgressFinish::AndClear);
        bar.set_draw_target(ProgressDrawTarget::stderr());
        bar.set_style(style(if length.is_some() { BAR } else { SPINNER }));
        bar.set_message("reading");
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, then }
    }

    /// Shows nothing.
    pub(crate) fn hidden() -> Self {
        Self { bar: ProgressBar::hidden(), then: "" }
    }

    /// The input, of that many bytes, is read once more.
    pub(crate) fn begin_again(&self, length: u64) {
        self.bar.set_style(style(BAR));
        self.bar.set_length(length);
        self.bar.set_position(0);
        self.bar.set_message(self.then);
    }

    /// The input, watched while it is read.
    pub(crate) fn watch<R: Read>(&self, input: R) -> impl Read + use<R> {
        self.bar.wrap_read(input)
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

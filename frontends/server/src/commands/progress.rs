//! [`Progress`]: how far reading or writing has come, for whoever watches a terminal.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

const BAR: &str = "{msg} [{wide_bar}] {percent:>3} %  {bytes} of {total_bytes}  {bytes_per_sec}  {eta} left";
/// Where nobody knows how much there is.
const SPINNER: &str = "{msg} {spinner} {bytes}  {bytes_per_sec}";

/// A bar on standard error until it is cleared; nothing where standard error is no terminal. It has no colours. Clones
/// show the same.
#[derive(Clone, Debug)]
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// Begins to show what is done with that many bytes, if that is known.
    pub(super) fn of(work: &'static str, length: Option<u64>) -> Self {
        if !io::stderr().is_terminal() {
            return Self::hidden();
        }
        let bar = length.map_or_else(ProgressBar::no_length, ProgressBar::new).with_finish(ProgressFinish::AndClear);
        bar.set_draw_target(ProgressDrawTarget::stderr());
        bar.set_style(style(if length.is_some() { BAR } else { SPINNER }));
        bar.set_message(work);
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    /// Shows nothing.
    pub(super) fn hidden() -> Self {
        Self(ProgressBar::hidden())
    }

    /// The input, of that many bytes, is read once more for that work.
    pub(super) fn begin_again(&self, work: &'static str, length: u64) {
        self.0.set_style(style(BAR));
        self.0.set_length(length);
        self.0.reset();
        self.0.set_message(work);
    }

    /// So many bytes more were read.
    pub(super) fn add(&self, bytes: u64) {
        self.0.inc(bytes);
    }

    /// The output, watched while it is written.
    pub(super) fn watch_writing<W: Write>(&self, output: W) -> impl Write + use<W> {
        self.0.wrap_write(output)
    }

    /// So many bytes are done, of so many.
    pub(super) fn set(&self, done: u64, of: u64) {
        self.0.set_length(of);
        self.0.set_position(done);
    }

    /// Shows no more of it, also where somebody is still at work.
    pub(super) fn clear(&self) {
        self.0.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

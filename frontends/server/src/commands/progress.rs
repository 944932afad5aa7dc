//! How far reading or writing has come, for whoever watches a terminal.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

const BAR: &str = "{msg} [{wide_bar}] {percent:>3} %  {bytes} of {total_bytes}  {bytes_per_sec}  {eta} left";
/// Where nobody knows how much there is.
const SPINNER: &str = "{msg} {spinner} {bytes}  {bytes_per_sec}";

/// Begins to show what is done with that many bytes, if that is known: a bar on standard error until it is cleared; nothing
/// where standard error is no terminal. It has no colours.
pub(super) fn begin(work: &'static str, length: Option<u64>) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = length.map_or_else(ProgressBar::no_length, ProgressBar::new).with_finish(ProgressFinish::AndClear);
    bar.set_draw_target(ProgressDrawTarget::stderr());
    bar.set_style(style(if length.is_some() { BAR } else { SPINNER }));
    bar.set_message(work);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// The input, of that many bytes, is read once more for that work.
pub(super) fn begin_again(bar: &ProgressBar, work: &'static str, length: u64) {
    bar.set_style(style(BAR));
    bar.set_length(length);
    bar.reset();
    bar.set_message(work);
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

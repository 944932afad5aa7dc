//! Progress of reading or writing, on a terminal.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

const BAR: &str = "{msg} [{wide_bar}] {percent:>3} %  {bytes} of {total_bytes}  {bytes_per_sec}  {eta} left";
/// Template for an unknown total.
const SPINNER: &str = "{msg} {spinner} {bytes}  {bytes_per_sec}";

/// Starts a bar without colors on standard error for `work` on `length` bytes; a spinner if the length is unknown.
/// Hides it if standard error is not a terminal.
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

/// Restarts the bar for `work`, which reads the `length` bytes of input again.
pub(super) fn begin_again(bar: &ProgressBar, work: &'static str, length: u64) {
    bar.set_style(style(BAR));
    bar.set_length(length);
    bar.reset();
    bar.set_message(work);
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

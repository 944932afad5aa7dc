//! SIGINT for the programs that tests start.

use std::fs;
use std::sync::LazyLock;

use tokio::signal::unix::{SignalKind, signal};

static HANDLED: LazyLock<()> = LazyLock::new(|| {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    if u64::from_str_radix(ignored.trim(), 16).unwrap() & 0b10 != 0 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async { drop(signal(SignalKind::interrupt()).unwrap()) });
    }
});

/// Handles SIGINT if this process ignores it, as in the background of a shell without job control: its children would ignore
/// it, too.
pub(crate) fn handle() {
    LazyLock::force(&HANDLED);
}

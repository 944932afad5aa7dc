//! SIGHUP and SIGINT for the programs that tests start.

use std::fs;
use std::sync::LazyLock;

use tokio::signal::unix::{SignalKind, signal};

static HANDLED: LazyLock<()> = LazyLock::new(|| {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    let ignored = u64::from_str_radix(ignored.trim(), 16).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    for kind in [SignalKind::hangup(), SignalKind::interrupt()] {
        if ignored & 1 << (kind.as_raw_value() - 1) != 0 {
            runtime.block_on(async { drop(signal(kind).unwrap()) });
        }
    }
});

/// Handles those of these signals that this process ignores, as under nohup or in the background of a shell without job control:
/// its children would ignore them, too.
pub(crate) fn handle() {
    LazyLock::force(&HANDLED);
}

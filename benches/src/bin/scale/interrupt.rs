//! Lets what is under way end when the user wants it, so that nothing is left behind.

use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Listens for the user's wish from now on.
pub(crate) fn listen() {
    thread::spawn(|| {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        if runtime.block_on(tokio::signal::ctrl_c()).is_ok() {
            INTERRUPTED.store(true, Ordering::Relaxed);
        }
    });
}

/// An error once the user wants the program to end.
pub(crate) fn check() -> io::Result<()> {
    match INTERRUPTED.load(Ordering::Relaxed) {
        true => Err(ErrorKind::Interrupted.into()),
        false => Ok(()),
    }
}

//! Signals that a command handles, so that they do not end the process by themselves.

use std::future::pending;
#[cfg(unix)]
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(unix)]
use std::{process, thread};

use tokio::runtime::Builder;
#[cfg(unix)]
pub(super) use tokio::signal::unix::Signal;
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};

use crate::exit::Failure;

/// SIGTERM, SIGINT and optionally SIGHUP; on systems without these, Ctrl+C.
pub(super) struct Signals {
    #[cfg(unix)]
    terminate: Signal,
    #[cfg(unix)]
    interrupt: Signal,
    #[cfg(unix)]
    hangup: Option<Signal>,
}

/// Whether the command handles SIGTERM and SIGINT itself.
#[cfg(unix)]
static HANDLED: AtomicBool = AtomicBool::new(false);

/// Handles signals if this process is PID 1 (of a container), because the kernel drops signals for PID 1 without a handler.
/// SIGQUIT ends it, as do SIGTERM and SIGINT until the command [catches](Signals::catch) them. No change is left half made.
pub(super) fn end_as_pid_1() -> Result<(), Failure> {
    #[cfg(unix)]
    if process::id() == 1 {
        let runtime = super::runtime(&mut Builder::new_current_thread())?;
        let inside = runtime.enter();
        let (mut signals, mut quit) = (Signals::new()?, caught(SignalKind::quit())?);
        drop(inside);
        let wait = async move {
            loop {
                tokio::select! {
                    _ = quit.recv() => process::exit(131),
                    status = signals.next() => if !HANDLED.load(Ordering::Relaxed) { process::exit(status.into()) },
                }
            }
        };
        // On its own thread, because a command may wait on the main one.
        thread::spawn(move || runtime.block_on(wait));
    }
    Ok(())
}

impl Signals {
    /// Catches SIGTERM and SIGINT. Call it before anything slow: later signals are queued, so no work is left half done.
    pub(super) fn catch() -> Result<Self, Failure> {
        let signals = Self::new()?;
        #[cfg(unix)]
        HANDLED.store(true, Ordering::Relaxed);
        Ok(signals)
    }

    fn new() -> Result<Self, Failure> {
        Ok(Self {
            #[cfg(unix)]
            terminate: caught(SignalKind::terminate())?,
            #[cfg(unix)]
            interrupt: caught(SignalKind::interrupt())?,
            #[cfg(unix)]
            hangup: None,
        })
    }

    /// Like [`Self::catch`], but also catches SIGHUP (a lost terminal), unless it is ignored, as by `nohup`.
    pub(super) fn catch_with_hangup() -> Result<Self, Failure> {
        Ok(Self {
            #[cfg(unix)]
            hangup: if ends_by_hangup() { Some(catch_hangup()?) } else { None },
            ..Self::catch()?
        })
    }

    /// Waits for a signal. Returns the exit status for it: 128 plus its number.
    pub(super) async fn next(&mut self) -> u8 {
        #[cfg(unix)]
        {
            let Self { terminate, interrupt, hangup } = self;
            let hung_up = async {
                match hangup {
                    Some(hangup) => hangup.recv().await,
                    None => pending().await,
                }
            };
            tokio::select! {
                _ = terminate.recv() => 143,
                _ = interrupt.recv() => 130,
                _ = hung_up => 129,
            }
        }
        #[cfg(not(unix))]
        {
            if tokio::signal::ctrl_c().await.is_err() {
                pending::<()>().await;
            }
            130
        }
    }
}

/// Placeholder for systems without SIGHUP: none ever comes.
#[cfg(not(unix))]
pub(super) struct Signal;

#[cfg(not(unix))]
impl Signal {
    pub(super) async fn recv(&mut self) -> Option<()> {
        pending().await
    }
}

/// Catches SIGHUP, if the system has it.
pub(super) fn catch_hangup() -> Result<Signal, Failure> {
    #[cfg(unix)]
    return caught(SignalKind::hangup());
    #[cfg(not(unix))]
    Ok(Signal)
}

/// Keeps SIGHUP from ending the process. A SIGHUP that arrives before it [is caught](catch_hangup) may be lost.
pub(super) fn ignore_early_hangups() -> Result<(), Failure> {
    // Tokio keeps the handler of a signal even after its runtime has ended.
    let runtime = super::runtime(&mut Builder::new_current_thread())?;
    let _inside = runtime.enter();
    catch_hangup().map(drop)
}

/// Returns whether the kernel would end the process on SIGHUP. `false` if unknown, so that SIGHUP is not caught.
#[cfg(unix)]
fn ends_by_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // The lowest bit stands for signal 1.
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 0)
}

#[cfg(unix)]
fn caught(kind: SignalKind) -> Result<Signal, Failure> {
    signal(kind).map_err(|error| Failure::work(format!("cannot catch signals: {error}")))
}

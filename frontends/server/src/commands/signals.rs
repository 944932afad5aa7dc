//! The signals that a command waits for, which from then on do not end the process by themselves.

use std::future::pending;

#[cfg(unix)]
use tokio::runtime::Builder;
#[cfg(unix)]
use tokio::signal::unix::{self, SignalKind};

use crate::exit::Failure;

/// SIGTERM and SIGINT; where there are none, Ctrl+C.
pub(super) struct Signals {
    #[cfg(unix)]
    terminate: unix::Signal,
    #[cfg(unix)]
    interrupt: unix::Signal,
}

impl Signals {
    /// To be called before anything slow: a signal that comes meanwhile is kept, and nothing is left half done.
    pub(super) fn catch() -> Result<Self, Failure> {
        Ok(Self {
            #[cfg(unix)]
            terminate: caught(SignalKind::terminate())?,
            #[cfg(unix)]
            interrupt: caught(SignalKind::interrupt())?,
        })
    }

    /// Waits for a signal, and gives the exit status that stands for it, which is 128 and its number.
    pub(super) async fn next(&mut self) -> u8 {
        #[cfg(unix)]
        tokio::select! {
            _ = self.terminate.recv() => 143,
            _ = self.interrupt.recv() => 130,
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

/// SIGHUP, where there is one.
pub(super) struct Hangup {
    #[cfg(unix)]
    signal: unix::Signal,
}

impl Hangup {
    pub(super) fn catch() -> Result<Self, Failure> {
        Ok(Self {
            #[cfg(unix)]
            signal: caught(SignalKind::hangup())?,
        })
    }

    /// From now on the signal does not end the process. One that comes before there is a [`Hangup`] may be forgotten: what
    /// it asks for is yet to be read.
    pub(super) fn forget_early_ones() -> Result<(), Failure> {
        #[cfg(unix)]
        {
            // Of a signal that was once caught, tokio keeps the handler, also beyond the runtime.
            let runtime = super::runtime(Builder::new_current_thread().enable_io().build())?;
            let _inside = runtime.enter();
            Self::catch()?;
        }
        Ok(())
    }

    /// Waits for the signal.
    pub(super) async fn next(&mut self) {
        #[cfg(unix)]
        if self.signal.recv().await.is_some() {
            return;
        }
        pending::<()>().await;
    }
}

#[cfg(unix)]
fn caught(kind: SignalKind) -> Result<unix::Signal, Failure> {
    unix::signal(kind).map_err(|error| Failure::work(format!("cannot wait for signals: {error}")))
}

//! [`Sink`]: the destination of log lines, and the thread that writes them.

use std::io::{self, Write};
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Maximum number of bytes in the queue: lines of about five thousand requests.
const ROOM: usize = 1 << 20;

/// Pause of the thread after each write. Lines logged during it are written together, and need not wake the thread.
const REST: Duration = Duration::from_millis(10);

/// Timeout for writing the queue at exit: a blocked standard error must not keep the process alive.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// Destination of log lines.
#[derive(Debug)]
pub(crate) enum Sink {
    /// Written immediately by the thread that logs.
    Direct,
    /// Written by a dedicated thread.
    Background(Arc<Waiting>),
}

/// Queue of lines, shared by the writing thread and the threads that log.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    state: Mutex<State>,
    /// Notified when there is work for the thread.
    work: Condvar,
    /// Notified when the thread has written everything and ended.
    over: Condvar,
    dropped: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    lines: Vec<u8>,
    /// Whether the thread waits for a line and must be woken.
    asleep: bool,
    /// Whether the thread must end, because no further lines are logged.
    ending: bool,
    /// Whether the thread has ended.
    ended: bool,
}

impl Sink {
    /// Creates a sink whose dedicated thread writes to standard error.
    pub(crate) fn background() -> io::Result<Self> {
        Self::to(io::stderr())
    }

    pub(super) fn to(out: impl Write + Send + 'static) -> io::Result<Self> {
        let waiting = Arc::new(Waiting::default());
        let shared = Arc::clone(&waiting);
        thread::Builder::new().name("log".to_owned()).spawn(move || shared.write_all(out))?;
        Ok(Self::Background(waiting))
    }

    /// Writes or queues a line, which ends with a line feed. Drops it if the queue is full.
    pub(crate) fn write(&self, line: &[u8]) {
        match self {
            // Ignore the error: standard error may be closed or full.
            Self::Direct => drop(io::stderr().lock().write_all(line)),
            Self::Background(waiting) => waiting.push(line),
        }
    }

    /// Waits until the queue is written, but not long if standard error is blocked. Further lines are not written.
    pub(super) fn finish(&self) {
        if let Self::Background(waiting) = self {
            waiting.finish();
        }
    }

    /// Returns how many lines were dropped because standard error was blocked.
    pub(crate) fn dropped(&self) -> u64 {
        match self {
            Self::Direct => 0,
            Self::Background(waiting) => waiting.dropped.load(Ordering::Relaxed),
        }
    }
}

impl Waiting {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, line: &[u8]) {
        let mut state = self.state();
        if state.lines.len() + line.len() > ROOM {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        state.lines.extend_from_slice(line);
        if mem::take(&mut state.asleep) {
            drop(state);
            self.work.notify_one();
        }
    }

    fn finish(&self) {
        let mut state = self.state();
        state.ending = true;
        self.work.notify_one();
        drop(self.over.wait_timeout_while(state, LAST_WAIT, |state| !state.ended));
    }

    /// Runs the writing thread.
    fn write_all(&self, mut out: impl Write) {
        let mut lines = Vec::new();
        let mut told = 0;
        while self.take(&mut lines) {
            // Ignore the error: the output may be closed.
            let _ = out.write_all(&lines).and_then(|()| out.flush());
            lines.clear();
            let dropped = self.dropped.load(Ordering::Relaxed);
            if dropped > told {
                let lines = dropped - told;
                tracing::warn!(lines, "lines of the log were dropped: standard error did not take them");
                told = dropped;
            }
            drop(self.work.wait_timeout_while(self.state(), REST, |state| !state.ending));
        }
        self.state().ended = true;
        self.over.notify_all();
    }

    /// Waits for lines, and swaps the queue with the empty buffer `lines`. Returns `false` at the end.
    fn take(&self, lines: &mut Vec<u8>) -> bool {
        let mut state = self.state();
        while state.lines.is_empty() && !state.ending {
            state.asleep = true;
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        mem::swap(&mut state.lines, lines);
        !lines.is_empty()
    }
}

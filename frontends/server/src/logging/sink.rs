//! [`Sink`]: the destination of log lines, and the thread that writes them.

use std::io::{self, Write};
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Maximum number of bytes in the queue: lines of about five thousand requests.
const MAX_QUEUED_BYTES: usize = 1 << 20;

/// Pause of the thread after each write. Lines logged during the pause are written together, and need not wake the thread.
const FLUSH_INTERVAL: Duration = Duration::from_millis(10);

/// Timeout for writing the queue at exit: a blocked standard error must not keep the process alive.
const FINISH_TIMEOUT: Duration = Duration::from_secs(1);

/// Destination of log lines.
#[derive(Debug)]
pub(crate) enum Sink {
    /// Written immediately by the thread that logs.
    Direct,
    /// Written by a dedicated thread.
    Background(Arc<Queue>),
}

/// Queue of lines, shared by the writing thread and the threads that log.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    /// Notified when there is work for the thread.
    work: Condvar,
    /// Notified when the thread has written everything and ended.
    finished: Condvar,
    dropped: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    lines: Vec<u8>,
    /// Whether the thread waits for a line and must be woken.
    is_waiting: bool,
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
        let queue = Arc::new(Queue::default());
        let shared = Arc::clone(&queue);
        thread::Builder::new().name("log".to_owned()).spawn(move || shared.write_all(out))?;
        Ok(Self::Background(queue))
    }

    /// Writes or queues a line, which ends with a line feed. Drops it if the queue is full.
    pub(crate) fn write(&self, line: &[u8]) {
        match self {
            // Ignore the error: standard error may be closed or full.
            Self::Direct => drop(io::stderr().lock().write_all(line)),
            Self::Background(queue) => queue.push(line),
        }
    }

    /// Waits until the queue is written, at most for [`FINISH_TIMEOUT`]. Further lines are not written.
    pub(super) fn finish(&self) {
        if let Self::Background(queue) = self {
            queue.finish();
        }
    }

    /// Returns how many lines were dropped because standard error was blocked.
    pub(crate) fn dropped(&self) -> u64 {
        match self {
            Self::Direct => 0,
            Self::Background(queue) => queue.dropped.load(Ordering::Relaxed),
        }
    }
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, line: &[u8]) {
        let mut state = self.state();
        if state.lines.len() + line.len() > MAX_QUEUED_BYTES {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        state.lines.extend_from_slice(line);
        if mem::take(&mut state.is_waiting) {
            drop(state);
            self.work.notify_one();
        }
    }

    fn finish(&self) {
        let mut state = self.state();
        state.ending = true;
        self.work.notify_one();
        drop(self.finished.wait_timeout_while(state, FINISH_TIMEOUT, |state| !state.ended));
    }

    /// Runs the writing thread.
    fn write_all(&self, mut out: impl Write) {
        let mut lines = Vec::new();
        let mut reported = 0;
        while self.take(&mut lines) {
            // Ignore the error: the output may be closed.
            let _ = out.write_all(&lines).and_then(|()| out.flush());
            lines.clear();
            let dropped = self.dropped.load(Ordering::Relaxed);
            if dropped > reported {
                tracing::warn!(lines = dropped - reported, "dropped log lines: standard error is blocked");
                reported = dropped;
            }
            drop(self.work.wait_timeout_while(self.state(), FLUSH_INTERVAL, |state| !state.ending));
        }
        self.state().ended = true;
        self.finished.notify_all();
    }

    /// Waits for lines, and swaps the queue with the empty buffer `lines`. Returns `false` at the end.
    fn take(&self, lines: &mut Vec<u8>) -> bool {
        let mut state = self.state();
        while state.lines.is_empty() && !state.ending {
            state.is_waiting = true;
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        mem::swap(&mut state.lines, lines);
        !lines.is_empty()
    }
}

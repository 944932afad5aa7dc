//! [`Sink`]: where lines go, and the thread that writes them.

use std::io::{self, Write};
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How many bytes of lines wait to be written at most: those of some five thousand requests.
const ROOM: usize = 1 << 20;

/// What the thread rests after each writing. Lines that come meanwhile are written together, and nobody has to wake it.
const REST: Duration = Duration::from_millis(10);

/// What is waited at the end for lines to be written: a standard error that nobody reads does not keep the process.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// Where lines go.
#[derive(Debug)]
pub(crate) enum Sink {
    /// Written at once, by whoever logs.
    Direct,
    /// Written by a thread.
    Background(Arc<Waiting>),
}

/// Lines that wait: what the thread and those who log share.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    state: Mutex<State>,
    /// There is something to do for the thread.
    work: Condvar,
    /// The thread has written all, and ended.
    over: Condvar,
    dropped: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    lines: Vec<u8>,
    /// The thread waits for a line, and must be woken.
    asleep: bool,
    /// No further line comes.
    ending: bool,
    /// The thread has ended.
    ended: bool,
}

impl Sink {
    /// Lines written to standard error by a thread of their own.
    pub(crate) fn background() -> io::Result<Self> {
        Self::to(io::stderr())
    }

    pub(super) fn to(out: impl Write + Send + 'static) -> io::Result<Self> {
        let waiting = Arc::new(Waiting::default());
        let shared = Arc::clone(&waiting);
        thread::Builder::new().name("log".to_owned()).spawn(move || shared.write_all(out))?;
        Ok(Self::Background(waiting))
    }

    /// Takes a line, which ends with a line feed. Where there is no room it is dropped.
    pub(crate) fn write(&self, line: &[u8]) {
        match self {
            // One that is closed or full is no reason to fail.
            Self::Direct => drop(io::stderr().lock().write_all(line)),
            Self::Background(waiting) => waiting.push(line),
        }
    }

    /// Lets what waits be written, as far as it is taken soon. Further lines are not written.
    pub(super) fn finish(&self) {
        if let Self::Background(waiting) = self {
            waiting.finish();
        }
    }

    /// How many lines were dropped, as nobody took them.
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

    /// The thread's work.
    fn write_all(&self, mut out: impl Write) {
        let mut lines = Vec::new();
        let mut told = 0;
        while self.take(&mut lines) {
            // One that is closed is no reason to fail.
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

    /// Exchanges the lines that wait for an empty buffer, as soon as there are any; not at the end.
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

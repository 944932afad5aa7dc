//! [`SlowReads`]: reads that wait for the disk let go of the host's thread.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::sync::nanos;

/// Runs what it is given, once and before it returns, and has the tasks of its thread go on elsewhere meanwhile.
pub(crate) type Aside = fn(&mut dyn FnMut());

/// From this mean on reads are slow, in nanoseconds. A page takes a twentieth where the file is in memory, and a thread that
/// others push aside now and then remains below.
const SLOW: u64 = 500_000;
/// A read counts for one in so many in the mean: one that is slow changes nothing.
const WEIGHT: u64 = 16;
/// How many slow reads run at once; each has a connection with two MiB of cache.
const MOST: usize = 32;

/// How long reads take, and where those run that are slow.
#[derive(Default)]
pub(crate) struct SlowReads {
    aside: OnceLock<Aside>,
    /// What a read took lately, in nanoseconds. Where two end at once, one of them may not count.
    mean: AtomicU64,
    running: Mutex<usize>,
    one_ended: Condvar,
}

impl SlowReads {
    /// Has slow reads run so. The first call counts.
    pub(crate) fn run_aside(&self, aside: Aside) {
        let _ = self.aside.set(aside);
    }

    /// Runs a read: at once, or aside while reads are slow.
    pub(crate) fn run<T>(&self, read: impl FnOnce() -> T) -> T {
        let began = nanos();
        let outcome = if self.mean.load(Ordering::Relaxed) < SLOW {
            read()
        } else {
            self.offload(|| {
                let _place = self.place();
                read()
            })
        };
        self.took(nanos().saturating_sub(began));
        outcome
    }

    /// Counts a read that took so long.
    pub(crate) fn took(&self, nanos: u64) {
        let mean = self.mean.load(Ordering::Relaxed);
        self.mean.store(mean - mean / WEIGHT + nanos / WEIGHT, Ordering::Relaxed);
    }

    /// Runs a read by the host's function; on the calling thread without one.
    pub(crate) fn offload<T>(&self, read: impl FnOnce() -> T) -> T {
        let (mut read, mut outcome) = (Some(read), None);
        let mut work = || {
            if let Some(read) = read.take() {
                outcome = Some(read());
            }
        };
        if let Some(aside) = self.aside.get() {
            aside(&mut work);
        }
        // Where the host has not.
        work();
        outcome.expect("the read has run by now")
    }

    /// One of the places, when it is free.
    fn place(&self) -> Place<'_> {
        let running = self.running();
        let mut running =
            self.one_ended.wait_while(running, |running| *running >= MOST).unwrap_or_else(PoisonError::into_inner);
        *running += 1;
        Place(self)
    }

    fn running(&self) -> MutexGuard<'_, usize> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Given back also by a read that panics.
struct Place<'s>(&'s SlowReads);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        *self.0.running() -= 1;
        self.0.one_ended.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local!(static ASIDE: Cell<u32> = const { Cell::new(0) });

    fn counted(work: &mut dyn FnMut()) {
        ASIDE.set(ASIDE.get() + 1);
        work();
    }

    fn slow_reads() -> SlowReads {
        let reads = SlowReads::default();
        reads.run_aside(counted);
        reads
    }

    /// Whether a read runs aside, which itself counts for nothing here.
    fn runs_aside(reads: &SlowReads) -> bool {
        let (mean, before) = (reads.mean.load(Ordering::Relaxed), ASIDE.get());
        assert_eq!(reads.run(|| 7), 7);
        reads.mean.store(mean, Ordering::Relaxed);
        ASIDE.get() > before
    }

    #[test]
    fn reads_leave_the_thread_while_they_are_slow() {
        let reads = slow_reads();
        assert!(!runs_aside(&reads));
        reads.took(5_000_000);
        assert!(!runs_aside(&reads), "one of them is none");
        reads.took(5_000_000);
        assert!(runs_aside(&reads));
        for _ in 0..10 {
            reads.took(20_000);
        }
        assert!(!runs_aside(&reads));
    }

    #[test]
    fn without_a_place_to_run_them_they_run_at_once() {
        let reads = SlowReads::default();
        reads.took(5_000_000_000);
        assert!(!runs_aside(&reads));
        assert_eq!(reads.run(|| 7), 7);
    }

    #[test]
    fn a_host_that_does_not_run_it_is_no_reason_to_fail() {
        let reads = SlowReads::default();
        reads.run_aside(|_| ());
        reads.took(5_000_000_000);
        assert_eq!(reads.run(|| 7), 7);
    }

    #[test]
    fn no_more_run_at_once_than_there_are_places() {
        let reads = slow_reads();
        let taken: Vec<_> = (0..MOST).map(|_| reads.place()).collect();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| drop(reads.place()));
            assert_eq!(*reads.running(), MOST);
            drop(taken);
            waiting.join().unwrap();
        });
        assert_eq!(*reads.running(), 0);
        reads.took(5_000_000_000);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| reads.run(|| panic!("of the read"))));
        assert!(panicked.is_err());
        assert_eq!(*reads.running(), 0);
    }
}

//! [`ReadOffload`]: offloads reads that wait for the disk or a lock, so that they do not block the host application's executor.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::sync::nanos;

/// Function that runs its argument once before it returns, while the thread's other tasks continue on another thread.
pub(crate) type OffloadFn = fn(&mut dyn FnMut());

/// Mean duration at which reads count as slow, in nanoseconds. Reading a page takes 5 % of it if the system caches the file.
/// Occasional preemption does not raise the mean that far.
const SLOW_MEAN: u64 = 500_000;
/// Divisor of the moving average: one read has a weight of 1/16, so that a single read of a few ms does not switch modes.
const WEIGHT: u64 = 16;
/// Maximum number of slow reads that run concurrently; each has a connection with a cache of 2 MiB.
const MAX_SLOW_READS: usize = 32;

/// Durations of recent reads, and slots for slow ones.
#[derive(Default)]
pub(crate) struct ReadOffload {
    offload: OnceLock<OffloadFn>,
    /// Moving average of read durations, in nanoseconds. Concurrent calls may lose an update.
    mean: AtomicU64,
    running: Mutex<usize>,
    slot_released: Condvar,
}

impl ReadOffload {
    /// Sets the function that offloads reads. Only the first call has an effect.
    pub(crate) fn set(&self, offload: OffloadFn) {
        let _ = self.offload.set(offload);
    }

    /// Runs a read on the calling thread, or offloads it while reads are slow.
    pub(crate) fn run<T>(&self, read: impl FnOnce() -> T) -> T {
        let began = nanos();
        let outcome = if self.mean.load(Ordering::Relaxed) < SLOW_MEAN {
            read()
        } else {
            self.offload(|| {
                let _slot = self.slot();
                read()
            })
        };
        self.record(nanos().saturating_sub(began));
        outcome
    }

    /// Adds a read's duration to the moving average.
    pub(crate) fn record(&self, nanos: u64) {
        let mean = self.mean.load(Ordering::Relaxed);
        self.mean.store(mean - mean / WEIGHT + nanos / WEIGHT, Ordering::Relaxed);
    }

    /// Offloads a read; runs it on the calling thread if no function was set.
    pub(crate) fn offload<T>(&self, read: impl FnOnce() -> T) -> T {
        let (mut read, mut outcome) = (Some(read), None);
        let mut work = || {
            if let Some(read) = read.take() {
                outcome = Some(read());
            }
        };
        if let Some(offload) = self.offload.get() {
            offload(&mut work);
        }
        // Runs the read if no function was set, or if the function did not call it.
        work();
        outcome.expect("the read has run")
    }

    /// Waits for a slot for a slow read.
    fn slot(&self) -> Slot<'_> {
        let has_no_slot = |running: &mut usize| *running >= MAX_SLOW_READS;
        let running = self.slot_released.wait_while(self.running(), has_no_slot);
        *running.unwrap_or_else(PoisonError::into_inner) += 1;
        Slot(self)
    }

    fn running(&self) -> MutexGuard<'_, usize> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Slot of a slow read. A read that panics releases it too.
struct Slot<'s>(&'s ReadOffload);

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        *self.0.running() -= 1;
        self.0.slot_released.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local!(static OFFLOADED: Cell<u32> = const { Cell::new(0) });

    fn count_and_run(work: &mut dyn FnMut()) {
        OFFLOADED.set(OFFLOADED.get() + 1);
        work();
    }

    fn read_offload() -> ReadOffload {
        let reads = ReadOffload::default();
        reads.set(count_and_run);
        reads
    }

    /// Runs a read and returns whether it was offloaded. Restores the mean afterward.
    fn is_offloaded(reads: &ReadOffload) -> bool {
        let (mean, before) = (reads.mean.load(Ordering::Relaxed), OFFLOADED.get());
        assert_eq!(reads.run(|| 7), 7);
        reads.mean.store(mean, Ordering::Relaxed);
        OFFLOADED.get() > before
    }

    #[test]
    fn reads_are_offloaded_while_slow() {
        let reads = read_offload();
        assert!(!is_offloaded(&reads));
        reads.record(5_000_000);
        assert!(!is_offloaded(&reads), "one slow read must not switch modes");
        reads.record(5_000_000);
        assert!(is_offloaded(&reads));
        for _ in 0..10 {
            reads.record(20_000);
        }
        assert!(!is_offloaded(&reads));
    }

    #[test]
    fn reads_run_on_thread_unless_offload_fn_runs_them() {
        let reads = ReadOffload::default();
        reads.record(5_000_000_000);
        assert!(!is_offloaded(&reads));
        reads.set(|_| ());
        assert_eq!(reads.run(|| 7), 7);
    }

    #[test]
    fn concurrent_slow_reads_are_bounded() {
        let reads = read_offload();
        let taken: Vec<_> = (0..MAX_SLOW_READS).map(|_| reads.slot()).collect();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| drop(reads.slot()));
            assert_eq!(*reads.running(), MAX_SLOW_READS);
            drop(taken);
            waiting.join().unwrap();
        });
        assert_eq!(*reads.running(), 0);
        reads.record(5_000_000_000);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| reads.run(|| panic!("of the read"))));
        assert!(panicked.is_err());
        assert_eq!(*reads.running(), 0);
    }
}

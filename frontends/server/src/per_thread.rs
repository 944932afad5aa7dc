//! [`PerThread`]: a value for each thread that serves, so that none waits for another.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A value for each thread; where there are more threads than values, some share one.
#[derive(Debug)]
pub(crate) struct PerThread<T>(Box<[Place<T>]>);

/// On cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Place<T>(T);

impl<T: Default> PerThread<T> {
    /// So many values.
    pub(crate) fn new(values: usize) -> Self {
        Self((0..values).map(|_| Place::default()).collect())
    }
}

/// As many as threads can run at the same time.
impl<T: Default> Default for PerThread<T> {
    fn default() -> Self {
        Self::new(thread::available_parallelism().map_or(1, usize::from))
    }
}

impl<T> PerThread<T> {
    /// That of this thread.
    pub(crate) fn own(&self) -> &T {
        &self.0[number_of_this_thread() % self.0.len()].0
    }

    /// All of them.
    pub(crate) fn all(&self) -> impl ExactSizeIterator<Item = &T> {
        self.0.iter().map(|place| &place.0)
    }
}

/// Threads are counted up from 0 as they come.
fn number_of_this_thread() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static NUMBER: usize = THREADS.fetch_add(1, Ordering::Relaxed));

    NUMBER.with(|number| *number)
}

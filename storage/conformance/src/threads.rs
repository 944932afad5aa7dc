//! Work on several threads at once, on the runtime of the case.

use std::panic::resume_unwind;
use std::thread::{self, Scope, ScopedJoinHandle};

use tokio::runtime::Handle;

/// Runs `work` on that many threads at once, waits for them, and returns what they found.
///
/// The tasks of a storage, such as a connection's, go on meanwhile: the runtime has threads of its own.
pub(crate) fn on_threads<T: Send>(count: usize, work: impl AsyncFn() -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|_| on_a_thread(scope, Handle::current(), &work)).collect();
        threads.into_iter().map(joined).collect()
    })
}

/// Runs `work` on a thread of its own.
pub(crate) fn on_a_thread<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    runtime: Handle,
    work: impl AsyncFnOnce() -> T + Send + 'scope,
) -> ScopedJoinHandle<'scope, T> {
    scope.spawn(move || runtime.block_on(work()))
}

/// What that thread found; where it panicked, so does this one.
pub(crate) fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

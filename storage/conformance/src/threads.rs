//! Work on several threads, while the case's own runtime goes on.

use std::future::Future;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::sleep;

/// Runs `work` on that many threads at once and returns what they found.
///
/// It waits without blocking: a storage may have tasks of its own on this thread's runtime, such as a connection's.
pub(crate) async fn on_threads<T, F>(count: usize, work: impl Fn(usize) -> F + Send + Sync + 'static) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T>,
{
    let work = Arc::new(work);
    let threads: Vec<_> = (0..count)
        .map(|index| {
            let work = Arc::clone(&work);
            on_a_thread(move || async move { work(index).await })
        })
        .collect();
    let mut results = Vec::with_capacity(count);
    for thread in threads {
        results.push(joined(thread).await);
    }
    results
}

/// Runs `work` on a thread of its own.
pub(crate) fn on_a_thread<T, F>(work: impl FnOnce() -> F + Send + 'static) -> JoinHandle<T>
where
    T: Send + 'static,
    F: Future<Output = T>,
{
    let runtime = Handle::current();
    thread::spawn(move || runtime.block_on(work()))
}

/// What that thread found; where it panicked, so does this one.
pub(crate) async fn joined<T>(thread: JoinHandle<T>) -> T {
    while !thread.is_finished() {
        sleep(Duration::from_millis(1)).await;
    }
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

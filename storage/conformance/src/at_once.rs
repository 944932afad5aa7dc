//! Work on several threads at once, on the runtime of the case; futures that are under way on one, or given up.

use std::future::{Future, poll_fn};
use std::panic::resume_unwind;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
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

/// Polls a future so often at most, and drops it.
pub(crate) fn give_up<F: Future>(future: F, polls: usize) {
    let mut future = pin!(future);
    for _ in 0..polls {
        if future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            break;
        }
    }
}

/// Runs futures side by side on this thread until all have ended.
pub(crate) async fn all_of<F: Future<Output = ()>>(futures: impl IntoIterator<Item = F>) {
    let mut running: Vec<Pin<Box<F>>> = futures.into_iter().map(Box::pin).collect();
    poll_fn(|context| {
        running.retain_mut(|future| future.as_mut().poll(context).is_pending());
        if running.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Reads on two threads, again and again, while writes of the numbers from 1 up go on; that of 0 comes before.
pub(crate) async fn reads_beside_writes(read: impl AsyncFn() + Sync, write: impl AsyncFn(usize) + Sync) {
    write(0).await;
    let (reads, over, runtime) = (AtomicUsize::new(0), AtomicBool::new(false), Handle::current());
    let reading = async || {
        let _ends_all = SetAtItsEnd(&over);
        while !over.load(Ordering::Acquire) {
            read().await;
            reads.fetch_add(1, Ordering::AcqRel);
        }
    };
    let writing = async || {
        let _ends_all = SetAtItsEnd(&over);
        for number in 1..=400 {
            let enough = number > 20 && reads.load(Ordering::Acquire) > 40;
            if enough || over.load(Ordering::Acquire) {
                break;
            }
            write(number).await;
        }
    };
    thread::scope(|scope| {
        let readers: Vec<_> = (0..2).map(|_| on_a_thread(scope, runtime.clone(), reading)).collect();
        let writer = on_a_thread(scope, runtime, writing);
        readers.into_iter().for_each(joined);
        joined(writer);
    });
}

/// Sets a flag when it goes, also where a panic takes it.
struct SetAtItsEnd<'f>(&'f AtomicBool);

impl Drop for SetAtItsEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

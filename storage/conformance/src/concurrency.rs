//! Helpers for concurrency: work on several threads of the case's runtime, concurrent futures, and futures dropped early.

use std::future::{Future, poll_fn};
use std::panic::resume_unwind;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::sleep;

/// Runs `work` on `count` threads concurrently with the thread's number, waits for them, and returns their results.
///
/// Tasks of the storage, such as those of connections, keep running: the runtime has its own threads.
pub(crate) fn on_threads<T: Send>(count: usize, work: impl AsyncFn(usize) -> T + Sync) -> Vec<T> {
    let work = &work;
    thread::scope(|scope| {
        let on = |number| on_thread(scope, Handle::current(), async move || work(number).await);
        let threads: Vec<_> = (0..count).map(on).collect();
        threads.into_iter().map(join).collect()
    })
}

/// Runs `work` on a dedicated thread.
pub(crate) fn on_thread<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    runtime: Handle,
    work: impl AsyncFnOnce() -> T + Send + 'scope,
) -> ScopedJoinHandle<'scope, T> {
    scope.spawn(move || runtime.block_on(work()))
}

/// Returns the thread's result, or propagates its panic.
pub(crate) fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Polls a future at most `polls` times, and drops it.
pub(crate) fn poll_then_drop<F: Future>(future: F, polls: usize) {
    let mut future = pin!(future);
    for _ in 0..polls {
        if future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            break;
        }
    }
}

/// Runs futures concurrently on this thread until all have ended.
pub(crate) async fn run_all<F: Future<Output = ()>>(futures: impl IntoIterator<Item = F>) {
    let mut running: Vec<Pin<Box<F>>> = futures.into_iter().map(Box::pin).collect();
    poll_fn(|context| {
        running.retain_mut(|future| future.as_mut().poll(context).is_pending());
        if running.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Pause after a read during which no write ended, so that reads leave the processors to slow writes.
const PAUSE: Duration = Duration::from_millis(1);

/// Reads repeatedly on two threads, concurrently with writes number 1, 2 and so on; write 0 precedes all reads.
pub(crate) async fn read_during_writes(read: impl AsyncFn() + Sync, write: impl AsyncFn(usize) + Sync) {
    write(0).await;
    let (reads, writes) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (over, runtime) = (AtomicBool::new(false), Handle::current());
    let reading = async || {
        let _set_on_drop = SetOnDrop(&over);
        while !over.load(Ordering::Acquire) {
            let before = writes.load(Ordering::Acquire);
            read().await;
            reads.fetch_add(1, Ordering::AcqRel);
            if before == writes.load(Ordering::Acquire) {
                sleep(PAUSE).await;
            }
        }
    };
    let writing = async || {
        let _set_on_drop = SetOnDrop(&over);
        for number in 1..=400 {
            let enough = number > 20 && reads.load(Ordering::Acquire) > 40;
            if enough || over.load(Ordering::Acquire) {
                break;
            }
            write(number).await;
            writes.store(number, Ordering::Release);
        }
    };
    thread::scope(|scope| {
        let readers: Vec<_> = (0..2).map(|_| on_thread(scope, runtime.clone(), reading)).collect();
        let writer = on_thread(scope, runtime, writing);
        readers.into_iter().for_each(join);
        join(writer);
    });
}

/// Sets a flag when it is dropped, even by a panic.
struct SetOnDrop<'f>(&'f AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

//! [`on_own_thread`]: work that may wait, without the thread of whoever asks for it.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::thread;

use catalogue_core::storage::{StorageError, StorageErrorKind};

/// What the thread leaves behind, and whom it wakes then.
struct Shared<T> {
    outcome: Option<thread::Result<T>>,
    waker: Option<Waker>,
}

/// Does `work` on a thread of its own and waits for it, in whatever runtime. The work is done also where nobody waits for it
/// any more. Its panic is one of the call.
pub(crate) async fn on_own_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StorageError> + Send + 'static,
) -> Result<T, StorageError> {
    let shared = Arc::new(Mutex::new(Shared { outcome: None, waker: None }));
    let left = Arc::clone(&shared);
    let started = thread::Builder::new().name("sqlite-write".to_owned()).spawn(move || {
        let outcome = catch_unwind(AssertUnwindSafe(work));
        let mut left = lock(&left);
        left.outcome = Some(outcome);
        if let Some(waker) = left.waker.take() {
            waker.wake();
        }
    });
    started.map_err(|error| {
        let message = "the system starts no more threads; try again later";
        StorageError::new(StorageErrorKind::Unavailable, message).with_source(error)
    })?;
    let outcome = poll_fn(|context| {
        let mut shared = lock(&shared);
        if let Some(outcome) = shared.outcome.take() {
            return Poll::Ready(outcome);
        }
        shared.waker = Some(context.waker().clone());
        Poll::Pending
    });
    outcome.await.unwrap_or_else(|panic| resume_unwind(panic))
}

fn lock<T>(shared: &Mutex<Shared<T>>) -> MutexGuard<'_, Shared<T>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

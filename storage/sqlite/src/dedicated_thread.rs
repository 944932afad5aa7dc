//! [`run_on_dedicated_thread`]: runs work that may wait without blocking the caller's thread.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

use catalogue_core::storage::{StorageError, StorageErrorKind};
use futures_channel::oneshot;

/// Runs `work` on a dedicated thread and waits for it, in any runtime. The work completes even if the call is dropped. A
/// panic in it propagates to the caller.
pub(crate) async fn run_on_dedicated_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StorageError> + Send + 'static,
) -> Result<T, StorageError> {
    let (sender, receiver) = oneshot::channel();
    let started = thread::Builder::new().name("sqlite-write".to_owned()).spawn(move || {
        // The receiver is gone if the call was dropped.
        let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
    });
    started.map_err(|error| {
        let message = "cannot start a thread; try again later";
        StorageError::new(StorageErrorKind::Unavailable, message).with_source(error)
    })?;
    let outcome = receiver.await.expect("the thread sends its outcome");
    outcome.unwrap_or_else(|panic| resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::task::{Context, Waker};

    use super::*;

    #[tokio::test]
    async fn work_continues_after_call_is_dropped() {
        let ((go, wait), (done, is_done)) = (mpsc::channel::<()>(), mpsc::channel());
        let mut call = Box::pin(run_on_dedicated_thread(move || {
            wait.recv().unwrap();
            done.send(()).unwrap();
            Ok(())
        }));
        assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        drop(call);
        go.send(()).unwrap();
        is_done.recv().unwrap();
    }

    #[tokio::test]
    #[should_panic(expected = "of the work")]
    async fn panic_propagates_to_caller() {
        let _ = run_on_dedicated_thread::<()>(|| panic!("of the work")).await;
    }
}

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
        let waker = left.waker.take();
        // Whoever is woken may ask at once.
        drop(left);
        waker.into_iter().for_each(Waker::wake);
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

#[cfg(test)]
mod tests {
    use std::pin::{Pin, pin};
    use std::sync::mpsc;
    use std::task::{Context, Wake};
    use std::time::Duration;

    use super::*;

    struct Unpark(thread::Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    /// All the runtime that a call needs.
    fn block_on<T>(call: impl Future<Output = T>) -> T {
        let waker = Arc::new(Unpark(thread::current())).into();
        let mut call = pin!(call);
        loop {
            match call.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(outcome) => return outcome,
                Poll::Pending => thread::park(),
            }
        }
    }

    #[test]
    fn what_asks_is_woken_when_the_work_is_done() {
        let (go, wait) = mpsc::channel();
        let mut call = pin!(on_own_thread(move || Ok(wait.recv().unwrap())));
        let mut context = Context::from_waker(Waker::noop());
        assert!(call.as_mut().poll(&mut context).is_pending());
        go.send(7).unwrap();
        assert_eq!(block_on(call).unwrap(), 7);
    }

    /// Some executors poll within the call that wakes them.
    #[test]
    fn what_is_woken_may_ask_at_once() {
        type Call = Pin<Box<dyn Future<Output = Result<i32, StorageError>> + Send>>;
        struct Executor(Mutex<Option<Call>>, mpsc::Sender<i32>);

        impl Wake for Executor {
            fn wake(self: Arc<Self>) {
                let mut call = self.0.lock().unwrap().take().unwrap();
                if let Poll::Ready(outcome) = call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                    self.1.send(outcome.unwrap()).unwrap();
                }
            }
        }

        let ((go, wait), (done, outcome)) = (mpsc::channel(), mpsc::channel());
        let mut call = Box::pin(on_own_thread(move || Ok(wait.recv().unwrap())));
        let executor = Arc::new(Executor(Mutex::new(None), done));
        assert!(call.as_mut().poll(&mut Context::from_waker(&executor.clone().into())).is_pending());
        *executor.0.lock().unwrap() = Some(call);
        go.send(7).unwrap();
        assert_eq!(outcome.recv_timeout(Duration::from_secs(20)), Ok(7));
    }

    #[test]
    fn a_dropped_call_leaves_its_work_to_be_done() {
        let ((go, wait), (done, is_done)) = (mpsc::channel::<()>(), mpsc::channel());
        let mut call = Box::pin(on_own_thread(move || {
            wait.recv().unwrap();
            done.send(()).unwrap();
            Ok(())
        }));
        assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        drop(call);
        go.send(()).unwrap();
        is_done.recv().unwrap();
    }

    #[test]
    #[should_panic(expected = "of the work")]
    fn a_panic_of_the_work_is_one_of_the_call() {
        let _ = block_on(on_own_thread::<()>(|| panic!("of the work")));
    }
}

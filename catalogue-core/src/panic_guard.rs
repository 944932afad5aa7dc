//! Turns a panic, for example of a storage, into an error, so that it does not end the task of the caller.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;

/// Runs `future` and returns a panic as an error. A future that has panicked must not be polled again.
pub(crate) async fn catch_panic<T>(mut future: Pin<&mut impl Future<Output = T>>) -> Result<T, String> {
    poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
        Ok(poll) => poll.map(Ok),
        Err(payload) => Poll::Ready(Err(message_of(&*payload))),
    })
    .await
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    format!("panicked: {}", text.unwrap_or("without a message"))
}

//! A panic in a storage or an authenticator is an error like any other: the request is answered 500.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;

/// What a future that panicked leaves behind.
#[derive(Debug, thiserror::Error)]
#[error("panicked: {0}")]
pub(crate) struct Panicked(String);

/// Runs `future`, which must not be polled again once it has panicked.
pub(crate) async fn catch_panic<T>(mut future: Pin<&mut impl Future<Output = T>>) -> Result<T, Panicked> {
    poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
        Ok(poll) => poll.map(Ok),
        Err(payload) => Poll::Ready(Err(Panicked(message_of(&*payload)))),
    })
    .await
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message").to_owned()
}

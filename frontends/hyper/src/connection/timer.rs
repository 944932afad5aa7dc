//! [`ConnectionTimer`]: ends a connection at its deadline, or when it is evicted.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::task::unconstrained;
use tokio::time::{Instant, Sleep, sleep_until};

use super::ConnectionState;
use crate::CloseReason;

/// The only timer of a connection. Not reset with every byte: it may fire early, and then sleeps again.
pub(crate) struct ConnectionTimer {
    state: Arc<ConnectionState>,
    sleep: Pin<Box<Sleep>>,
}

impl ConnectionTimer {
    pub(super) fn new(state: Arc<ConnectionState>) -> Self {
        let (deadline, _) = state.lock().deadline(&state.registry.config.timeouts, None);
        Self { state, sleep: Box::pin(sleep_until(deadline)) }
    }

    /// Runs `work`, a part of the connection, to its end or to the connection's deadline.
    pub(crate) async fn run<T>(&mut self, mut work: impl FnMut(&mut Context<'_>) -> Poll<T>) -> Result<T, CloseReason> {
        poll_fn(|cx| match work(cx) {
            Poll::Ready(done) => Poll::Ready(Ok(done)),
            Poll::Pending => self.poll_deadline(cx).map(Err),
        })
        .await
    }

    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<CloseReason> {
        let registry = &self.state.registry;
        let mut activity = self.state.lock();
        activity.set_task(cx.waker());
        let (deadline, reason) = activity.deadline(&registry.config.timeouts, registry.stopping());
        drop(activity);
        if deadline < self.sleep.deadline() {
            self.sleep.as_mut().reset(deadline);
        }
        // Unconstrained: a client that sends without a pause uses up the task's budget, and the timer must fire even then.
        while pin!(unconstrained(self.sleep.as_mut())).poll(cx).is_ready() {
            if deadline <= Instant::now() {
                return Poll::Ready(reason);
            }
            self.sleep.as_mut().reset(deadline);
        }
        Poll::Pending
    }
}

//! [`ConnectionTimer`]: ends a connection that is silent, slow, or no longer wanted.

use std::future::poll_fn;
use std::mem;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::task::unconstrained;
use tokio::time::{Instant, Sleep, sleep_until};

use super::ConnectionState;
use crate::CloseReason;
use crate::close_reason::Interrupt;

/// The one timer of a connection. It is not set anew with every byte, but may fire early, and sleeps again.
pub(crate) struct ConnectionTimer {
    state: Arc<ConnectionState>,
    sleep: Pin<Box<Sleep>>,
    /// Since when nothing had happened when that was last looked at.
    quiet: Option<Instant>,
    /// Until when a last request is waited for, once the server stops and the connection was quiet.
    last_request: Option<Instant>,
}

impl ConnectionTimer {
    pub(super) fn new(state: Arc<ConnectionState>) -> Self {
        let (deadline, _) = state.lock().deadline(&state.config.timeouts, false);
        Self { state, sleep: Box::pin(sleep_until(deadline)), quiet: None, last_request: None }
    }

    /// Runs `work`, a part of the connection, to its end, or until it is interrupted.
    pub(crate) async fn run<T>(&mut self, mut work: impl FnMut(&mut Context<'_>) -> Poll<T>) -> Result<T, Interrupt> {
        poll_fn(|cx| match work(cx) {
            Poll::Ready(done) => Poll::Ready(Ok(done)),
            Poll::Pending => self.poll_interrupt(cx).map(Err),
        })
        .await
    }

    fn poll_interrupt(&mut self, cx: &mut Context<'_>) -> Poll<Interrupt> {
        let mut activity = self.state.lock();
        if let Some(interrupt) = activity.end_turn(cx) {
            return Poll::Ready(interrupt);
        }
        let end_of_grace = self.state.shutdown.end_of_grace();
        let (mut deadline, mut interrupt) = activity.deadline(&self.state.config.timeouts, end_of_grace.is_some());
        let quiet = activity.quiet_since();
        drop(activity);
        let last_request = end_of_grace.and_then(|_| self.last_request(quiet, cx));
        for (end, reason) in [(last_request, CloseReason::Stopping), (end_of_grace, CloseReason::EndOfGrace)] {
            if let Some(end) = end.filter(|end| *end < deadline) {
                (deadline, interrupt) = (end, Interrupt::Close(reason));
            }
        }
        if deadline < self.sleep.deadline() {
            self.sleep.as_mut().reset(deadline);
        }
        // A client that sends without a pause uses up what a task may do in one turn, and the timer must not need that.
        while pin!(unconstrained(self.sleep.as_mut())).poll(cx).is_ready() {
            if deadline <= Instant::now() {
                if interrupt != Interrupt::LargeBuffer {
                    self.state.lock().timed_out = true;
                }
                return Poll::Ready(interrupt);
            }
            self.sleep.as_mut().reset(deadline);
        }
        Poll::Pending
    }

    /// Where the server stops and the connection is quiet: until when it is kept for a request that its client may have sent
    /// before it can know of the end. That is waited for once; the response then says that it is the last.
    fn last_request(&mut self, quiet: Option<Instant>, cx: &mut Context<'_>) -> Option<Instant> {
        // hyper may pause with requests in its buffer, but then goes on with them in the next turn.
        let before = mem::replace(&mut self.quiet, quiet);
        let Some(since) = quiet else {
            // A request has come, whose response may not say that it is the last.
            self.last_request = None;
            return None;
        };
        if before != quiet {
            cx.waker().wake_by_ref();
            return None;
        }
        let timeouts = &self.state.config.timeouts;
        Some(*self.last_request.get_or_insert_with(|| {
            let now = Instant::now();
            if now.duration_since(since) < timeouts.recent { now + timeouts.last_request } else { now }
        }))
    }
}

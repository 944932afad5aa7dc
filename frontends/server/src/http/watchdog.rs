//! Ends a connection that is silent, slow, or no longer wanted.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::{
    sync::watch,
    time::{Instant, Sleep, sleep_until},
};

use super::{Limits, activity::Activity};

/// The reason why a connection ends that nobody has used for long.
pub(super) const IDLE: &str = "idle";

/// Tells connections that the server stops, and until when they may go on.
pub(super) type Stopping = watch::Receiver<Option<Instant>>;

/// The one timer of a connection, and its ear for the server's end.
///
/// The timer is not set anew with every byte. It may fire early, sees in the record that there is more time, and
/// goes back to sleep.
pub(super) struct Watchdog {
    activity: Arc<Activity>,
    limits: Limits,
    sleep: Pin<Box<Sleep>>,
    stopping: Stopping,
    stopped: Pin<Box<dyn Future<Output = Instant> + Send>>,
    listening: bool,
    end: Option<Instant>,
    quiet: Option<Instant>,
}

impl Watchdog {
    /// Watches the connection that writes `activity`.
    pub(super) fn new(activity: Arc<Activity>, limits: Limits, stopping: Stopping) -> Self {
        let (deadline, _) = activity.deadline(&limits);
        Self {
            activity,
            limits,
            sleep: Box::pin(sleep_until(deadline)),
            stopped: Box::pin(stopped(stopping.clone())),
            stopping,
            listening: false,
            end: None,
            quiet: None,
        }
    }

    /// Runs `work`, a part of the connection, to its end or to ours: then the error says why.
    pub(super) async fn guard<T>(
        &mut self,
        mut work: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Result<T, &'static str> {
        let mut known = false;
        poll_fn(|cx| {
            if !std::mem::replace(&mut known, true) {
                self.activity.set_task(cx.waker());
            }
            self.listen(cx);
            if let Poll::Ready(done) = work(cx) {
                return Poll::Ready(Ok(done));
            }
            self.activity.drain(cx);
            if self.activity.is_over() {
                return Poll::Ready(Err("unread body"));
            }
            if self.end.is_some() && self.is_quiet(cx) {
                return Poll::Ready(Err("the server stops"));
            }
            self.poll_deadline(cx).map(Err)
        })
        .await
    }

    /// Notices that the server stops. The news wakes this task, so it is enough to ask for them once, and after that
    /// to look whether there are any: asking takes a lock that all connections share.
    fn listen(&mut self, cx: &mut Context<'_>) {
        if self.end.is_some() || (self.listening && matches!(self.stopping.has_changed(), Ok(false))) {
            return;
        }
        self.listening = true;
        if let Poll::Ready(end) = self.stopped.as_mut().poll(cx) {
            self.end = Some(end);
            self.activity.stop();
        }
    }

    /// Whether nothing has happened for two turns. hyper may pause with requests in its buffer, but then goes on with
    /// them in the next turn.
    fn is_quiet(&mut self, cx: &mut Context<'_>) -> bool {
        let quiet = self.activity.quiet_since();
        if quiet.is_some() && quiet == self.quiet {
            return true;
        }
        self.quiet = quiet;
        if quiet.is_some() {
            cx.waker().wake_by_ref();
        }
        false
    }

    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<&'static str> {
        let (mut deadline, mut reason) = self.activity.deadline(&self.limits);
        if let Some(end) = self.end.filter(|end| *end < deadline) {
            (deadline, reason) = (end, "end of the grace");
        }
        if deadline < self.sleep.deadline() {
            self.sleep.as_mut().reset(deadline);
        }
        while self.sleep.as_mut().poll(cx).is_ready() {
            if deadline <= Instant::now() {
                return Poll::Ready(reason);
            }
            self.sleep.as_mut().reset(deadline);
        }
        Poll::Pending
    }
}

/// Resolves when the server stops, with the end of the grace; at once if the server was dropped.
async fn stopped(mut stopping: Stopping) -> Instant {
    let end = stopping.wait_for(Option::is_some).await.map(|end| *end);
    end.ok().flatten().unwrap_or_else(Instant::now)
}

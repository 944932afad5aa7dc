//! Ends a connection that is silent, slow, or no longer wanted.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
};

use tokio::{
    sync::watch,
    task::unconstrained,
    time::{Instant, Sleep, sleep_until},
};

use super::{Limits, activity::Activity};

/// The reason why a connection ends that nobody has used for long.
pub(super) const IDLE: &str = "idle";

/// The reason why a connection ends whose request line is longer than any head may be.
pub(super) const LONG_LINE: &str = "long request line";

/// The reason why a connection ends that has nothing to do when the server stops.
const STOPPING: &str = "the server stops";

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
    /// Until when a last request is waited for, once the server stops and the connection was quiet.
    last_request: Option<Instant>,
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
            last_request: None,
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
            if let Some(reason) = self.activity.is_over() {
                return Poll::Ready(Err(reason));
            }
            let last_request = self.poll_quiet(cx);
            if last_request.is_some_and(|until| until <= Instant::now()) {
                return Poll::Ready(Err(STOPPING));
            }
            self.poll_deadline(cx, last_request).map(Err)
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

    /// Where the server stops and the connection is quiet: until when it is kept all the same.
    ///
    /// A client that asks again and again may have sent its next request before it can know of the end, and that would
    /// be lost. So it is waited for, once; the answer then says that it is the last.
    fn poll_quiet(&mut self, cx: &mut Context<'_>) -> Option<Instant> {
        self.end?;
        let since = self.quiet_since(cx)?;
        let Limits { last_request_time, recent_time, .. } = self.limits;
        Some(*self.last_request.get_or_insert_with(|| {
            let now = Instant::now();
            if now.duration_since(since) < recent_time { now + last_request_time } else { now }
        }))
    }

    /// Since when nothing has happened, if that was so for two turns. hyper may pause with requests in its buffer, but
    /// then goes on with them in the next turn.
    fn quiet_since(&mut self, cx: &mut Context<'_>) -> Option<Instant> {
        let quiet = self.activity.quiet_since();
        if quiet.is_some() && quiet == self.quiet {
            return quiet;
        }
        self.quiet = quiet;
        if quiet.is_some() {
            cx.waker().wake_by_ref();
        }
        None
    }

    fn poll_deadline(&mut self, cx: &mut Context<'_>, last_request: Option<Instant>) -> Poll<&'static str> {
        let (mut deadline, mut reason) = self.activity.deadline(&self.limits);
        if let Some(until) = last_request.filter(|until| *until < deadline) {
            (deadline, reason) = (until, STOPPING);
        }
        if let Some(end) = self.end.filter(|end| *end < deadline) {
            (deadline, reason) = (end, "end of the grace");
        }
        if deadline < self.sleep.deadline() {
            self.sleep.as_mut().reset(deadline);
        }
        // A client that sends without a pause uses up what a task may do in one turn, and the timer must not need that.
        while pin!(unconstrained(self.sleep.as_mut())).poll(cx).is_ready() {
            if deadline <= Instant::now() {
                self.activity.set_late();
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

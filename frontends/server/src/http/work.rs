//! [`Work`]: a request in the caller's service.

use std::{
    cell::RefCell,
    convert::Infallible,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll, Waker, ready},
};

use pin_project_lite::pin_project;
use tower_service::Service;

pin_project! {
    /// A request in the service's hands, and at the end the service's answer, or `None` if it panicked.
    ///
    /// A future by hand, which asks the service's own where it lies: a block of code would move it, and it is large.
    #[project = WorkState]
    #[project_replace = WorkBefore]
    pub(super) enum Work<S: Service<R>, R> {
        Called {
            #[pin]
            answer: S::Future,
        },
        /// The service was not ready. Only then is it cloned.
        Waiting { service: S, request: R },
        Panicked,
    }
}

impl<S: Service<R> + Clone, R> Work<S, R> {
    /// Hands a request to the service.
    pub(super) fn begin(service: &RefCell<S>, request: R) -> Self {
        let mut work = Self::Panicked;
        // Written where it is to be, for the same reason.
        caught(|| {
            let mut service = service.borrow_mut();
            work = match service.poll_ready(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(_) => Self::Called { answer: service.call(request) },
                Poll::Pending => Self::Waiting { service: service.clone(), request },
            };
        });
        work
    }
}

impl<S: Service<R, Error = Infallible>, R> Future for Work<S, R> {
    type Output = Option<S::Response>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Response>> {
        if let WorkState::Waiting { service, .. } = self.as_mut().project() {
            let Some(poll) = caught(|| service.poll_ready(cx)) else { return Poll::Ready(None) };
            let Ok(()) = ready!(poll);
            if let WorkBefore::Waiting { mut service, request } = self.as_mut().project_replace(Self::Panicked)
                && let Some(answer) = caught(|| service.call(request))
            {
                self.set(Self::Called { answer });
            }
        }
        match self.project() {
            WorkState::Called { answer } => match caught(|| answer.poll(cx)) {
                Some(poll) => poll.map(|Ok(response)| Some(response)),
                None => Poll::Ready(None),
            },
            WorkState::Waiting { .. } | WorkState::Panicked => Poll::Ready(None),
        }
    }
}

/// The value of `work`, or `None` if it panicked. The panic's message is the panic hook's business.
fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

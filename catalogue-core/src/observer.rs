//! [`Observer`]: what a host is told of each finished request, for its metrics and logs.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{HeaderValue, StatusCode};

use crate::auth::Identity;
use crate::operation::Operation;

/// Is told of each request that was answered; not of one whose client went away before the answer was ready.
///
/// It runs on the request's own task before the answer leaves, so it must be quick: count, or hand over to a thread of
/// its own. A panic in it changes no answer.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use catalogue_core::{Catalogue, FinishedRequest, MemoryStorage, Observer};
///
/// /// Counts refused and failed requests.
/// #[derive(Debug, Default)]
/// struct Failures(AtomicU64);
///
/// impl Observer for Failures {
///     fn finished(&self, request: &FinishedRequest<'_>) {
///         if request.status.is_client_error() || request.status.is_server_error() {
///             self.0.fetch_add(1, Ordering::Relaxed);
///         }
///     }
/// }
///
/// let catalogue = Catalogue::with_api_keys(MemoryStorage::new()).observer(Failures::default()).build()?;
/// # Ok::<(), catalogue_core::BuildError>(())
/// ```
pub trait Observer: fmt::Debug + Send + Sync + 'static {
    /// `request` was answered.
    fn finished(&self, request: &FinishedRequest<'_>);
}

impl<T: Observer + ?Sized> Observer for Arc<T> {
    fn finished(&self, request: &FinishedRequest<'_>) {
        (**self).finished(request);
    }
}

impl<T: Observer + ?Sized> Observer for Box<T> {
    fn finished(&self, request: &FinishedRequest<'_>) {
        (**self).finished(request);
    }
}

/// A request that was answered. Nothing in it is secret.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FinishedRequest<'r> {
    /// What was asked for; `None` for a public document and for a path that is no operation.
    pub operation: Option<Operation>,
    /// The answer's status.
    pub status: StatusCode,
    /// How long it took, from the call to the finished answer. The time to read the request and to send the answer is
    /// the server's and not part of it.
    pub duration: Duration,
    /// Who called; `None` where no credential was looked at (documents, `OPTIONS`, 405, 429 before the look-up) or none was
    /// valid.
    pub caller: Option<&'r Identity>,
    /// The answer's `X-Request-Id` (decision A16).
    pub request_id: &'r str,
}

/// A request that is being answered for an observer.
#[derive(Clone, Copy)]
pub(crate) struct Watch<'o> {
    observer: &'o dyn Observer,
    began: Instant,
}

impl<'o> Watch<'o> {
    pub(crate) fn new(observer: &'o dyn Observer) -> Self {
        Self { observer, began: Instant::now() }
    }

    /// Tells the observer how the request was answered.
    pub(crate) fn tell(
        self,
        operation: Option<Operation>,
        status: StatusCode,
        caller: Option<&Identity>,
        request_id: &HeaderValue,
    ) {
        let request_id = request_id.to_str().expect("request ids are visible ASCII");
        let request = FinishedRequest { operation, status, duration: self.began.elapsed(), caller, request_id };
        if catch_unwind(AssertUnwindSafe(|| self.observer.finished(&request))).is_err() {
            tracing::error!(request_id, "the observer of finished requests panicked");
        }
    }
}

//! [`Observer`]: what a host is told of each finished request, for its metrics and logs.

use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderValue, Method, Response, StatusCode, request};

use super::trace_parent::TraceParent;
use crate::auth::{Identity, Refusal};
use crate::error::ApiError;
use crate::limit::ClientAddress;
use crate::operation::Operation;

/// Is told of each request that was answered; not of one whose client went away before the answer was ready.
///
/// It runs on the request's own task before the answer leaves, so it must be quick: count, or hand over to a thread of
/// its own. A panic in it changes no answer.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use catalogue_core::Catalogue;
/// use catalogue_core::observe::{FinishedRequest, Observer};
/// use catalogue_core::storage::MemoryStorage;
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

/// Both are told, one after the other.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn finished(&self, request: &FinishedRequest<'_>) {
        self.0.finished(request);
        self.1.finished(request);
    }
}

/// `None` is told nothing.
impl<T: Observer> Observer for Option<T> {
    fn finished(&self, request: &FinishedRequest<'_>) {
        if let Some(observer) = self {
            observer.finished(request);
        }
    }
}

/// A request that was answered. Nothing in it is secret.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FinishedRequest<'r> {
    /// What was asked for; `None` for a public document and for a path that is no operation.
    pub operation: Option<Operation>,
    /// How it was asked for; a method that HTTP does not know can be any text.
    pub method: &'r Method,
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
    /// How many bytes the answer's body has, as it is sent.
    pub body_length: usize,
    /// Why it was answered 401.
    pub refusal: Option<Refusal>,
    /// Which limit it met, where it was answered 429.
    pub exceeded: Option<ExceededLimit>,
    /// Why it was answered 500, a [`StorageError`](crate::storage::StorageError) where the storage failed. The log has
    /// it too.
    pub failure: Option<&'r (dyn Error + Send + Sync + 'static)>,
    /// The trace that the caller says it belongs to.
    pub trace: Option<TraceParent<'r>>,
    /// Where it came from, as the frontend knows (decision A2).
    pub client: Option<ClientAddress>,
}

/// A limit that a request met (decisions A2 and A21).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExceededLimit {
    /// That of requests in flight.
    InFlight,
    /// That of the credential.
    Credential,
    /// That of unknown tokens from the client's address.
    ClientAddress,
}

/// How a request was answered, as an observer is told.
pub(crate) struct Answered<'r> {
    pub(crate) request: &'r request::Parts,
    pub(crate) operation: Option<Operation>,
    pub(crate) began: Instant,
    pub(crate) response: &'r Response<Bytes>,
    pub(crate) caller: Option<&'r Identity>,
    pub(crate) request_id: &'r HeaderValue,
    /// What led to a failure envelope.
    pub(crate) error: Option<&'r ApiError>,
    /// There was no permit for it.
    pub(crate) overloaded: bool,
}

impl Answered<'_> {
    /// Tells `observer`.
    pub(crate) fn tell(&self, observer: &dyn Observer) {
        let request_id = self.request_id.to_str().expect("request ids are visible ASCII");
        let (refusal, failure) = match self.error {
            Some(ApiError::Unauthorized(refusal)) => (Some(*refusal), None),
            Some(ApiError::Internal(cause)) => (None, Some(&**cause)),
            _ => (None, None),
        };
        let finished = FinishedRequest {
            operation: self.operation,
            method: &self.request.method,
            status: self.response.status(),
            duration: self.began.elapsed(),
            caller: self.caller,
            request_id,
            body_length: if self.request.method == Method::HEAD { 0 } else { self.response.body().len() },
            refusal,
            exceeded: self.exceeded(),
            failure,
            trace: TraceParent::of(&self.request.headers),
            client: self.request.extensions.get().copied(),
        };
        if catch_unwind(AssertUnwindSafe(|| observer.finished(&finished))).is_err() {
            tracing::error!(request_id, "the observer of finished requests panicked");
        }
    }

    fn exceeded(&self) -> Option<ExceededLimit> {
        match (self.error?, self.caller) {
            (ApiError::RateLimited { .. }, _) if self.overloaded => Some(ExceededLimit::InFlight),
            (ApiError::RateLimited { .. }, Some(_)) => Some(ExceededLimit::Credential),
            (ApiError::RateLimited { .. }, None) => Some(ExceededLimit::ClientAddress),
            _ => None,
        }
    }
}

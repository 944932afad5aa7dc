//! [`Observer`]: the callback for finished requests, for the host application's metrics and logs.

use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use auto_impl::auto_impl;
use bytes::Bytes;
use http::{HeaderValue, Method, Response, StatusCode, request};

use super::trace_parent::TraceParent;
use crate::auth::{Explanation, Refusal};
use crate::error::ApiError;
use crate::limit::{ClientAddress, Throttled};
use crate::model::Identity;
use crate::operation::Operation;

/// Callback for each request that gets a response; not called if the client disconnects before the response is ready.
///
/// It runs on the request's task before the response is sent, so it must be quick. A panic in it changes no response.
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
#[auto_impl(Arc, Box)]
pub trait Observer: fmt::Debug + Send + Sync + 'static {
    /// Called when the response to `request` is ready.
    fn finished(&self, request: &FinishedRequest<'_>);
}

/// Calls both, one after the other.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn finished(&self, request: &FinishedRequest<'_>) {
        self.0.finished(request);
        self.1.finished(request);
    }
}

/// `None` observes nothing.
impl<T: Observer> Observer for Option<T> {
    fn finished(&self, request: &FinishedRequest<'_>) {
        if let Some(observer) = self {
            observer.finished(request);
        }
    }
}

/// A request and its response. Contains no secrets.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FinishedRequest<'r> {
    /// Requested operation; `None` for a public document and for a path that is not an operation.
    pub operation: Option<Operation>,
    /// Method of the request; one that HTTP does not define can be any text.
    pub method: &'r Method,
    /// Status of the response.
    pub status: StatusCode,
    /// Time from the call to the finished response, without reading the request and sending the response.
    pub duration: Duration,
    /// Caller; `None` if no credential was valid or checked (documents, `OPTIONS`, 405, 429 before the lookup).
    pub caller: Option<&'r Identity>,
    /// `X-Request-Id` of the response (decision A16).
    pub request_id: &'r str,
    /// Length of the response's body in bytes, as it is sent.
    pub body_length: usize,
    /// Reason for a 401.
    pub refusal: Option<Refusal>,
    /// Holder of a revoked or expired token. `None` for all other tokens, and if the token was refused by an
    /// [`Authenticator`](crate::auth::Authenticator) instead of the storage of the courses.
    pub refused: Option<&'r Identity>,
    /// Explanation by the authenticator, beyond the reason (decision O32).
    pub explanation: Option<Explanation>,
    /// Limit that a request with a 429 exceeded.
    pub exceeded: Option<ExceededLimit>,
    /// Cause of a 500: a [`StorageError`](crate::storage::StorageError) of a storage or an authenticator, or an error with
    /// a message, such as that of a panic. It is logged too.
    pub failure: Option<&'r (dyn Error + Send + Sync + 'static)>,
    /// Trace that the request belongs to, according to the caller.
    pub trace: Option<TraceParent<'r>>,
    /// Address of the client, as the frontend knows it (decision A2).
    pub client: Option<ClientAddress>,
}

/// A limit that a request exceeded (decisions A2 and A21).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExceededLimit {
    /// Limit of requests in flight.
    InFlight,
    /// Limit of the credential.
    Credential,
    /// Limit of unknown tokens from the client's address.
    ClientAddress,
}

impl<'r> FinishedRequest<'r> {
    /// Collects everything except the operation and the duration.
    pub(crate) fn of(
        request: &'r request::Parts,
        response: &Response<Bytes>,
        request_id: &'r HeaderValue,
        identified: Option<&'r Identity>,
        error: Option<&'r ApiError>,
    ) -> Self {
        let is_refused = matches!(error, Some(ApiError::Unauthorized(..)));
        let (caller, refused) = if is_refused { (None, identified) } else { (identified, None) };
        let mut finished = Self {
            operation: None,
            method: &request.method,
            status: response.status(),
            duration: Duration::ZERO,
            caller,
            request_id: request_id.to_str().expect("request ids are visible ASCII"),
            body_length: if request.method == Method::HEAD { 0 } else { response.body().len() },
            refusal: None,
            refused,
            explanation: None,
            exceeded: None,
            failure: None,
            trace: TraceParent::of(&request.headers),
            client: request.extensions.get().copied(),
        };
        match error {
            Some(ApiError::Unauthorized(refusal, explanation)) => {
                (finished.refusal, finished.explanation) = (Some(*refusal), *explanation);
            }
            Some(ApiError::RateLimited(throttled)) => {
                finished.exceeded = Some(ExceededLimit::of(throttled, caller));
            }
            Some(ApiError::Internal(cause)) => finished.failure = Some(&**cause),
            _ => {}
        }
        finished
    }

    /// Calls `observer` and logs a panic in it.
    pub(crate) fn notify(&self, observer: &dyn Observer) {
        if catch_unwind(AssertUnwindSafe(|| observer.finished(self))).is_err() {
            tracing::error!(request_id = self.request_id, "the observer of finished requests panicked");
        }
    }
}

impl ExceededLimit {
    /// Returns its name in logs and metrics, such as `in_flight`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::InFlight => "in_flight",
            Self::Credential => "credential",
            Self::ClientAddress => "client_address",
        }
    }

    fn of(throttled: &Throttled, caller: Option<&Identity>) -> Self {
        match (&throttled.fields, caller) {
            (None, _) => Self::InFlight,
            (Some(_), Some(_)) => Self::Credential,
            (Some(_), None) => Self::ClientAddress,
        }
    }
}

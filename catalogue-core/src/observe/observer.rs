//! [`Observer`]: what a host is told of each finished request, for its metrics and logs.

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

/// Is told of each request that was answered; not of one whose client went away before the answer was ready.
///
/// It runs on the request's task before the answer leaves, so it must be quick. A panic in it changes no answer.
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
    /// `request` was answered.
    fn finished(&self, request: &FinishedRequest<'_>);
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
    /// How long it took, from the call to the finished answer: without reading the request and sending the answer.
    pub duration: Duration,
    /// Who called; `None` where no credential was valid, or looked at (documents, `OPTIONS`, 405, 429 before the look-up).
    pub caller: Option<&'r Identity>,
    /// The answer's `X-Request-Id` (decision A16).
    pub request_id: &'r str,
    /// How many bytes the answer's body has, as it is sent.
    pub body_length: usize,
    /// Why it was answered 401.
    pub refusal: Option<Refusal>,
    /// Whose token was refused, where it was revoked or has expired. `None` for all other tokens, and where an
    /// [`Authenticator`](crate::auth::Authenticator) beside the storage of the courses refused it.
    pub refused: Option<&'r Identity>,
    /// What the authenticator says of the refusal beyond its reason (decision O32).
    pub explanation: Option<Explanation>,
    /// Which limit it exceeded, where it was answered 429.
    pub exceeded: Option<ExceededLimit>,
    /// Why it was answered 500: a [`StorageError`](crate::storage::StorageError) of the storage's, or another error that says
    /// what panicked. The log has it too.
    pub failure: Option<&'r (dyn Error + Send + Sync + 'static)>,
    /// The trace that the caller says it belongs to.
    pub trace: Option<TraceParent<'r>>,
    /// Where it came from, as the frontend knows (decision A2).
    pub client: Option<ClientAddress>,
}

/// A limit that a request exceeded (decisions A2 and A21).
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

impl<'r> FinishedRequest<'r> {
    /// What request and answer tell: all but the operation and the duration.
    pub(crate) fn of(
        request: &'r request::Parts,
        response: &Response<Bytes>,
        request_id: &'r HeaderValue,
        seen: Option<&'r Identity>,
        error: Option<&'r ApiError>,
    ) -> Self {
        let is_refused = matches!(error, Some(ApiError::Unauthorized(..)));
        let (caller, refused) = if is_refused { (None, seen) } else { (seen, None) };
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

    /// Tells `observer`.
    pub(crate) fn tell(&self, observer: &dyn Observer) {
        if catch_unwind(AssertUnwindSafe(|| observer.finished(self))).is_err() {
            tracing::error!(request_id = self.request_id, "the observer of finished requests panicked");
        }
    }
}

impl ExceededLimit {
    /// Its name in logs and metrics, such as `in_flight`.
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

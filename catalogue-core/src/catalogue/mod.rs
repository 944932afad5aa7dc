//! [`Catalogue`]: the assembled API, and the way of a request through it.

mod builder;
mod caller;
mod mount_at;

use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, Method, Request, Response, request};

use crate::auth::{Authenticator, BearerToken};
use crate::chain::chain;
use crate::cors::AllowedOrigins;
use crate::error::ApiError;
use crate::in_flight::InFlight;
use crate::limit::{Limits, Throttled};
use crate::model::{CredentialKind, Identity};
use crate::mount::Mount;
use crate::observe::{FinishedRequest, Observer};
use crate::operation::Asked;
use crate::operation::document::DocumentFormat;
use crate::panic_guard::catch_panic;
use crate::request_id::{RequestIds, X_REQUEST_ID};
use crate::response::page_cache::PageCacheStatistics;
use crate::response::{Answer, Answers, envelope};
use crate::route::{MethodKind, Route};
use crate::storage::CredentialStorage;
pub use builder::CatalogueBuilder;
use mount_at::Identify;

/// The answer beyond the limit of requests in flight (decision A21).
const OVERLOADED: ApiError = ApiError::RateLimited(Throttled { retry_after_seconds: 1, fields: None });

/// The course catalogue API. Cheap to clone; clones share everything.
///
/// See the [crate's documentation](crate) for an example.
#[derive(Clone, Debug)]
pub struct Catalogue(Arc<Inner>);

/// What a catalogue is made of. Its views share all but what they are for.
#[derive(Clone, Debug)]
struct Inner {
    mount: Arc<Mount>,
    answers: Answers,
    /// The credentials of the storage that has the courses, whose look-up brings the revision along. They are asked first.
    credentials: Option<Arc<dyn CredentialStorage>>,
    /// Asked before a bearer token is looked for.
    identify: Option<Identify>,
    authenticators: Vec<Arc<dyn Authenticator>>,
    accepted: Vec<CredentialKind>,
    origins: AllowedOrigins,
    request_ids: Arc<RequestIds>,
    in_flight: Arc<InFlight>,
    /// `None` where nothing is limited.
    limits: Option<Arc<Limits>>,
    observer: Option<Arc<dyn Observer>>,
}

impl Catalogue {
    /// Answers a request. Its body is dropped unread (decision R10), and it always gets an answer: each failure is the
    /// envelope of section 2.6, a panic of a storage or an authenticator too. What a frontend must keep on the way here and
    /// back stands in the [crate's documentation](crate#any-other-framework).
    pub fn call<B>(&self, request: Request<B>) -> impl Future<Output = Response<Bytes>> + Send + use<'_, B> {
        let (parts, _) = request.into_parts();
        async move { self.0.call(&parts, None).await }
    }

    /// Answers as [`call`](Self::call) does, from a request's head alone: for a frontend that has it by reference.
    pub fn call_head<'a>(&'a self, head: &'a request::Parts) -> impl Future<Output = Response<Bytes>> + Send + use<'a> {
        self.0.call(head, None)
    }

    /// Answers a request of a caller whom the host knows already: no header is read for a token. On a route of the host's
    /// own, ask [a view of the catalogue that is mounted there](Self::mounted_at), made once, so that answers link to that
    /// route.
    ///
    /// Somebody who is logged in is an [`Identity::session`], which says what its id must not be.
    pub fn call_as<B>(
        &self,
        caller: Identity,
        request: Request<B>,
    ) -> impl Future<Output = Response<Bytes>> + Send + use<'_, B> {
        let (parts, _) = request.into_parts();
        async move { self.0.call(&parts, Some(caller)).await }
    }

    /// How often answers were found in the page cache since the catalogue was built, and how many bytes it takes up
    /// now.
    #[must_use]
    pub fn page_cache(&self) -> PageCacheStatistics {
        self.0.answers.page_cache.statistics()
    }

    /// A description of this catalogue, as it is served or would be: at its addresses, with all that it was told of itself.
    #[must_use]
    pub fn document(&self, format: DocumentFormat) -> String {
        format.text(self.0.mount.site())
    }

    /// How many requests are being answered now.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.0.in_flight.count()
    }
}

impl Inner {
    async fn call(&self, request: &request::Parts, known: Option<Identity>) -> Response<Bytes> {
        let began = self.observer.as_ref().map(|_| Instant::now());
        let request_id = self.request_ids.of(&request.headers);
        let route = self.mount.route(request.uri.path());
        let mut seen = None;
        let permit = self.in_flight.enter();
        let outcome = match &permit {
            None => Err(OVERLOADED),
            Some(_) => match catch_panic(pin!(self.respond(request, route, known, &mut seen))).await {
                Ok(outcome) => outcome,
                Err(panicked) => Err(ApiError::Internal(panicked.into())),
            },
        };
        let (response, error) = match outcome {
            Ok(response) => (response, None),
            Err(error) => (self.refuse(&error, &request_id), Some(error)),
        };
        if let Some((observer, began)) = self.observer.as_deref().zip(began) {
            let operation = if let Route::Operation(operation, _) = route { Some(operation) } else { None };
            let duration = began.elapsed();
            let finished = FinishedRequest::of(request, &response, &request_id, seen.as_ref(), error.as_ref());
            FinishedRequest { operation, duration, ..finished }.tell(observer);
        }
        self.finish(response, request, route, request_id)
    }

    /// The way of a request. Each step takes what the step before returns, and the first failure answers (decision R2).
    /// Who calls is noted in `seen` for an observer, also where their token is refused.
    async fn respond(
        &self,
        request: &request::Parts,
        route: Route<'_>,
        known: Option<Identity>,
        seen: &mut Option<Identity>,
    ) -> Result<Response<Bytes>, ApiError> {
        let headers = &request.headers;
        if route.check_method(&request.method)? == MethodKind::Options {
            return Ok(envelope::options());
        }
        if let Some(document) = self.mount.document(route) {
            return Ok(envelope::document(document, headers));
        }
        if route == Route::Root {
            return envelope::root(&self.mount.router.docs, headers);
        }
        let token = BearerToken::from_headers(headers);
        let (identity, revision) = self.caller(request, token, known, seen).await?;
        let Route::Operation(operation, segment) = route else {
            return Err(ApiError::NotFound);
        };
        let caller = operation.authorize(identity, &self.accepted)?;
        let asked = operation.parse(&caller, segment, request.uri.query())?;
        let counted = match &self.limits {
            Some(limits) => limits.take(caller.identity()).await.map_err(ApiError::RateLimited)?,
            None => None,
        };
        let mut answer = match asked {
            Asked::Document(document) => {
                Answer::document(self.mount.documents.get(document, self.mount.site()), headers)
            }
            Asked::Call(call) => self.answers.answer(&self.mount.rendering, call, &caller, revision, headers).await?,
        };
        if let Some(counted) = counted {
            let is_free = answer.is_free(headers);
            counted.settle(&mut answer.response, is_free).await;
        }
        Ok(answer.response)
    }

    /// The failure envelope; a failure of ours is logged here, once, with its whole cause.
    fn refuse(&self, error: &ApiError, request_id: &HeaderValue) -> Response<Bytes> {
        let request_id = request_id.to_str().expect("request ids are visible ASCII");
        if let ApiError::Internal(cause) = error {
            tracing::error!(request_id, error = chain(&**cause), "a request failed");
        }
        let mut response = envelope::failure(error, request_id);
        if let Some(resource) = &self.mount.resource {
            resource.add_to(response.headers_mut());
        }
        response
    }

    /// Adds what every answer has, and takes the body from an answer to HEAD.
    fn finish(
        &self,
        mut response: Response<Bytes>,
        request: &request::Parts,
        route: Route<'_>,
        request_id: HeaderValue,
    ) -> Response<Bytes> {
        let headers = response.headers_mut();
        self.origins.apply(route, request, headers);
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(X_REQUEST_ID, request_id);
        if request.method == Method::HEAD {
            debug_assert!(response.body().is_empty() || response.headers().contains_key(CONTENT_LENGTH));
            response.body_mut().clear();
        }
        response
    }
}

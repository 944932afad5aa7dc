//! [`Catalogue`]: the assembled API, and the steps that a request takes through it.

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
use crate::limit::{Enforcer, Throttled};
use crate::model::{CredentialKind, Identity};
use crate::mount::Mount;
use crate::observe::{FinishedRequest, Observer};
use crate::operation::ParsedOperation;
use crate::operation::document::DocumentFormat;
use crate::panic_guard::catch_panic;
use crate::request_id::{RequestIds, X_REQUEST_ID};
use crate::response::page_cache::PageCacheStatistics;
use crate::response::{CallResponse, Responder, envelope};
use crate::route::{MethodKind, Route};
use crate::storage::CredentialStorage;
pub use builder::CatalogueBuilder;
use mount_at::Identify;

/// Error for a request beyond the limit of requests in flight (decision A21).
const OVERLOADED: ApiError = ApiError::RateLimited(Throttled { retry_after_seconds: 1, fields: None });

/// The course catalogue API. Cheap to clone; clones share everything.
///
/// See the [crate's documentation](crate) for an example.
#[derive(Clone, Debug)]
pub struct Catalogue(Arc<Inner>);

/// Parts of a catalogue. Derived catalogues share all parts but those that they replace.
#[derive(Clone, Debug)]
struct Inner {
    mount: Arc<Mount>,
    responder: Responder,
    /// Credentials of the storage that has the courses; a lookup also returns the revision. Queried first.
    credentials: Option<Arc<dyn CredentialStorage>>,
    /// Called before the bearer token is checked, and instead of that if it names the caller.
    identify: Option<Identify>,
    authenticators: Vec<Arc<dyn Authenticator>>,
    accepted: Vec<CredentialKind>,
    origins: AllowedOrigins,
    request_ids: Arc<RequestIds>,
    in_flight: Arc<InFlight>,
    /// `None` without a rate limit.
    enforcer: Option<Arc<Enforcer>>,
    observer: Option<Arc<dyn Observer>>,
}

impl Catalogue {
    /// Responds to a request, and drops its body unread (decision R10). Each failure gets the envelope of section 2.6,
    /// even a panic of a storage or an authenticator. The [crate's documentation](crate#any-other-framework) lists what a
    /// frontend must keep of requests and responses.
    pub fn call<B>(&self, request: Request<B>) -> impl Future<Output = Response<Bytes>> + Send + use<'_, B> {
        let (parts, _) = request.into_parts();
        async move { self.0.call(&parts, None).await }
    }

    /// Like [`call`](Self::call), but takes only the request's head, for a frontend that has it by reference.
    pub fn call_head<'a>(&'a self, head: &'a request::Parts) -> impl Future<Output = Response<Bytes>> + Send + use<'a> {
        self.0.call(head, None)
    }

    /// Responds to a request of a caller that the host application has identified already, and ignores its bearer token.
    /// For a separate route of the host application, use [a catalogue mounted there](Self::mounted_at), created once, so
    /// that responses link to that route.
    ///
    /// Sessions in a database are looked up before the call. The id of an [`Identity::session`] must not be its secret:
    ///
    /// ```
    /// # use {catalogue_core::auth::{Identity, Scopes}, catalogue_core::{AccountId, Catalogue}, http::{Request, Response}};
    /// async fn respond(mine: &Catalogue, user: &str, session_id: &str, request: Request<()>) -> Response<bytes::Bytes> {
    ///     let scopes = Scopes::from_names(["read:courses"]);
    ///     mine.call_as(Identity::session(AccountId::new(user), session_id, scopes), request).await
    /// }
    /// ```
    pub fn call_as<B>(
        &self,
        caller: Identity,
        request: Request<B>,
    ) -> impl Future<Output = Response<Bytes>> + Send + use<'_, B> {
        let (parts, _) = request.into_parts();
        async move { self.0.call(&parts, Some(caller)).await }
    }

    /// Returns the hits and misses of the page cache since the catalogue was built, and its size now. Derived catalogues
    /// share them.
    #[must_use]
    pub fn page_cache(&self) -> PageCacheStatistics {
        self.0.responder.page_cache.statistics()
    }

    /// Returns the document in `format` as this catalogue serves it, with its URLs and settings.
    #[must_use]
    pub fn document(&self, format: DocumentFormat) -> String {
        format.text(self.0.mount.site())
    }

    /// Returns the number of requests in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.0.in_flight.count()
    }
}

impl Inner {
    async fn call(&self, request: &request::Parts, known: Option<Identity>) -> Response<Bytes> {
        let started = self.observer.as_ref().map(|_| Instant::now());
        let request_id = self.request_ids.of(&request.headers);
        let route = self.mount.route(request.uri.path());
        let mut identified = None;
        let permit = self.in_flight.enter();
        let outcome = match &permit {
            None => Err(OVERLOADED),
            Some(_) => match catch_panic(pin!(self.respond(request, route, known, &mut identified))).await {
                Ok(outcome) => outcome,
                Err(panicked) => Err(ApiError::Internal(panicked.into())),
            },
        };
        let (response, error) = match outcome {
            Ok(response) => (response, None),
            Err(error) => (self.refuse(&error, &request_id), Some(error)),
        };
        if let Some((observer, started)) = self.observer.as_deref().zip(started) {
            let operation = if let Route::Operation(operation, _) = route { Some(operation) } else { None };
            let duration = started.elapsed();
            let finished = FinishedRequest::of(request, &response, &request_id, identified.as_ref(), error.as_ref());
            FinishedRequest { operation, duration, ..finished }.notify(observer);
        }
        self.finish(response, request, route, request_id)
    }

    /// Runs the steps of a request. Each takes the results of earlier steps; the first failure ends them (decision R2).
    /// Records the caller in `identified` for an observer, even if the token is refused.
    async fn respond(
        &self,
        request: &request::Parts,
        route: Route<'_>,
        known: Option<Identity>,
        identified: &mut Option<Identity>,
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
        let (identity, revision) = self.caller(request, token, known, identified).await?;
        let Route::Operation(operation, segment) = route else {
            return Err(ApiError::NotFound);
        };
        let caller = operation.authorize(identity, &self.accepted)?;
        let parsed = operation.parse(&caller, segment, request.uri.query())?;
        let charge = match &self.enforcer {
            Some(enforcer) => enforcer.charge(caller.identity()).await.map_err(ApiError::RateLimited)?,
            None => None,
        };
        let mut call_response = match parsed {
            ParsedOperation::Document(document) => {
                CallResponse::document(self.mount.documents.get(document, self.mount.site()), headers)
            }
            ParsedOperation::Call(call) => {
                self.responder.respond(&self.mount.rendering, call, &caller, revision, headers).await?
            }
        };
        if let Some(charge) = charge {
            let is_refundable = call_response.is_refundable(headers);
            charge.finish(&mut call_response.response, is_refundable).await;
        }
        Ok(call_response.response)
    }

    /// Returns the failure envelope. Logs an internal error here, once, with all its causes.
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

    /// Adds the headers that every response has, and removes the body of a response to HEAD.
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

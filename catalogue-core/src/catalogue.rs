//! [`Catalogue`]: the assembled API, and the way of a request through it.

use std::error::Error;
use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, request};

use crate::auth::{Authenticator, BearerToken, CredentialKind, Identity, Refusal, Verdict};
use crate::builder::CatalogueBuilder;
use crate::cors::AllowedOrigins;
use crate::documents::Documents;
use crate::envelope;
use crate::error::ApiError;
use crate::in_flight::InFlight;
use crate::panic_guard::catch_panic;
use crate::request_id::{RequestIds, X_REQUEST_ID};
use crate::route::{Ask, Route, Router};
use crate::storage::{CourseStorage, CredentialStorage};

const X_CONTENT_TYPE_OPTIONS: HeaderName = HeaderName::from_static("x-content-type-options");

/// The answer beyond the limit of requests in flight (decision A21).
const OVERLOADED: ApiError = ApiError::RateLimited { retry_after_seconds: 1 };

/// The course catalogue API. Cheap to clone; clones share everything.
///
/// See the [crate's documentation](crate) for an example.
#[derive(Clone, Debug)]
pub struct Catalogue(Arc<Parts>);

/// What a catalogue is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) router: Router,
    pub(crate) documents: Documents,
    pub(crate) courses: Arc<dyn CourseStorage>,
    pub(crate) authenticators: Vec<Arc<dyn Authenticator>>,
    pub(crate) accepted: Vec<CredentialKind>,
    pub(crate) origins: AllowedOrigins,
    pub(crate) request_ids: RequestIds,
    pub(crate) in_flight: InFlight,
}

impl Catalogue {
    /// A catalogue of `courses`, read by whom `authenticator` knows.
    pub fn builder(courses: impl CourseStorage, authenticator: impl Authenticator) -> CatalogueBuilder {
        CatalogueBuilder::new(courses, authenticator)
    }

    /// A catalogue over one storage that holds the courses and the credentials, API keys and opaque OAuth tokens.
    pub fn with_api_keys(storage: impl CourseStorage + CredentialStorage) -> CatalogueBuilder {
        CatalogueBuilder::with_api_keys(storage)
    }

    pub(crate) fn assemble(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// Answers a request. Its body is dropped unread (decision R10), and it always gets an answer: each failure is the
    /// envelope of section 2.6, a panic of a storage or an authenticator too.
    pub fn call<B>(&self, request: Request<B>) -> impl Future<Output = Response<Bytes>> + Send + use<'_, B> {
        let (parts, _) = request.into_parts();
        async move { self.0.call(&parts, None).await }
    }

    /// Answers a request of a caller whom the host knows already: no header is read for a token.
    pub fn call_as<B>(
        &self,
        caller: Identity,
        request: Request<B>,
    ) -> impl Future<Output = Response<Bytes>> + Send + use<'_, B> {
        let (parts, _) = request.into_parts();
        async move { self.0.call(&parts, Some(caller)).await }
    }
}

impl Parts {
    async fn call(&self, request: &request::Parts, caller: Option<Identity>) -> Response<Bytes> {
        let request_id = self.request_ids.of(&request.headers);
        let route = self.router.route(request.uri.path());
        let outcome = match self.in_flight.enter() {
            None => Err(OVERLOADED),
            Some(_place) => match catch_panic(self.respond(request, route, caller)).await {
                Ok(outcome) => outcome,
                Err(panicked) => Err(ApiError::Internal(panicked.into())),
            },
        };
        let response = outcome.unwrap_or_else(|error| refuse(&error, &request_id));
        self.finish(response, request, route, request_id)
    }

    /// The way of a request. Each step takes what the step before gives, and the first failure answers (decision R2).
    async fn respond(
        &self,
        request: &request::Parts,
        route: Route<'_>,
        caller: Option<Identity>,
    ) -> Result<Response<Bytes>, ApiError> {
        if route.ask(&request.method)? == Ask::Options {
            return Ok(envelope::options());
        }
        if let Route::Document(document) = route {
            return Ok(envelope::document(self.documents.get(document), &request.headers));
        }
        let identity = match caller {
            Some(identity) => identity,
            None => self.identify(&request.headers).await?,
        };
        let Route::Operation(operation, segment) = route else {
            return Err(ApiError::NotFound);
        };
        let caller = operation.authorize(identity, &self.accepted)?;
        let call = operation.parse(&caller, segment, request.uri.query())?;
        let reply = call.run(&*self.courses, &caller).await?;
        let link = envelope::next_link(&reply, &self.router.base);
        Ok(envelope::answer(&envelope::render(&reply, &self.documents), link, &request.headers))
    }

    /// Finds out whose token the request carries, by the first authenticator that knows it.
    async fn identify(&self, headers: &HeaderMap) -> Result<Identity, ApiError> {
        let token = BearerToken::from_headers(headers).map_err(ApiError::Unauthorized)?;
        for authenticator in &self.authenticators {
            match authenticator.authenticate(token).await? {
                Verdict::Accepted(identity) => return Ok(identity),
                Verdict::Refused(refusal) => return Err(ApiError::Unauthorized(refusal)),
                Verdict::NotMine => {}
            }
        }
        Err(ApiError::Unauthorized(Refusal::Invalid))
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

/// The failure envelope; a failure of ours is logged here, once, with its whole cause.
fn refuse(error: &ApiError, request_id: &HeaderValue) -> Response<Bytes> {
    let request_id = request_id.to_str().expect("request ids are visible ASCII");
    if let ApiError::Internal(cause) = error {
        tracing::error!(request_id, error = chain(&**cause), "a request failed");
    }
    envelope::failure(error, request_id)
}

fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        write!(text, ": {error}").expect("a String takes all");
        cause = error.source();
    }
    text
}

//! [`Catalogue`]: the assembled API, and the way of a request through it.

use std::error::Error;
use std::fmt::Write as _;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, request};

use crate::auth::{Authenticator, Authorized, BearerToken, CredentialKind, Identity, Refusal, Verdict, look_up};
use crate::builder::CatalogueBuilder;
use crate::conditional::ETag;
use crate::cors::AllowedOrigins;
use crate::documents::{Document, Documents};
use crate::entity::Entity;
use crate::envelope;
use crate::error::ApiError;
use crate::in_flight::InFlight;
use crate::limit::{ClientAddress, Limits, Throttled};
use crate::observer::{Answered, Observer, Watch};
use crate::operation::{self, Reply};
use crate::page_cache::{Fresh, Key, PageCache, PageCacheStatistics};
use crate::panic_guard::catch_panic;
use crate::rendering::Rendering;
use crate::request_id::{RequestIds, X_REQUEST_ID};
use crate::route::{Ask, Route, Router};
use crate::storage::{CourseStorage, CredentialStorage, Revision};

const X_CONTENT_TYPE_OPTIONS: HeaderName = HeaderName::from_static("x-content-type-options");

/// The answer beyond the limit of requests in flight (decision A21).
const OVERLOADED: ApiError = ApiError::RateLimited(Throttled { retry_after_seconds: 1, fields: None });

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
    /// The credentials of that very storage, whose look-up brings the revision along. They are asked first.
    pub(crate) credentials: Option<Arc<dyn CredentialStorage>>,
    pub(crate) authenticators: Vec<Arc<dyn Authenticator>>,
    pub(crate) accepted: Vec<CredentialKind>,
    pub(crate) origins: AllowedOrigins,
    pub(crate) request_ids: RequestIds,
    pub(crate) in_flight: InFlight,
    pub(crate) page_cache: PageCache,
    pub(crate) rendering: Rendering,
    /// `None` where nothing is limited.
    pub(crate) limits: Option<Limits>,
    pub(crate) observer: Option<Arc<dyn Observer>>,
}

/// Who calls, and the revision of their courses where the look-up brought it along.
struct Caller {
    identity: Identity,
    revision: Option<Revision>,
}

impl Catalogue {
    /// A catalogue of `courses` for the callers that `authenticator` knows.
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

    /// Answers as [`call`](Self::call) does, from a request's head alone: for a frontend that has it by reference.
    pub fn call_head<'a>(&'a self, head: &'a request::Parts) -> impl Future<Output = Response<Bytes>> + Send + use<'a> {
        self.0.call(head, None)
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

    /// How often kept answers were found since the catalogue was built, and how many bytes they take up now.
    #[must_use]
    pub fn page_cache(&self) -> PageCacheStatistics {
        self.0.page_cache.statistics()
    }

    /// How many requests are being answered now.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.0.in_flight.count()
    }
}

impl Parts {
    async fn call(&self, request: &request::Parts, caller: Option<Identity>) -> Response<Bytes> {
        let watch = self.observer.as_deref().map(Watch::new);
        let request_id = self.request_ids.of(&request.headers);
        let route = self.router.route(request.uri.path());
        let mut seen = None;
        let place = self.in_flight.enter();
        let outcome = match &place {
            None => Err(OVERLOADED),
            Some(_) => match catch_panic(pin!(self.respond(request, route, caller, &mut seen))).await {
                Ok(outcome) => outcome,
                Err(panicked) => Err(ApiError::Internal(panicked.into())),
            },
        };
        let (response, error) = match outcome {
            Ok(response) => (response, None),
            Err(error) => (refuse(&error, &request_id), Some(error)),
        };
        if let Some(watch) = watch {
            let answered = Answered {
                operation: route.operation(),
                response: &response,
                caller: seen.as_ref(),
                request_id: &request_id,
                error: error.as_ref(),
                overloaded: place.is_none(),
            };
            watch.tell(request, &answered);
        }
        self.finish(response, request, route, request_id)
    }

    /// The way of a request. Each step takes what the step before gives, and the first failure answers (decision R2).
    /// Who calls is noted in `seen` for an observer.
    async fn respond(
        &self,
        request: &request::Parts,
        route: Route<'_>,
        caller: Option<Identity>,
        seen: &mut Option<Identity>,
    ) -> Result<Response<Bytes>, ApiError> {
        if route.ask(&request.method)? == Ask::Options {
            return Ok(envelope::options());
        }
        if let Route::Document(document) = route {
            return Ok(envelope::document(self.documents.get(document), &request.headers));
        }
        let Caller { identity, revision } = match caller {
            Some(identity) => Caller { identity, revision: None },
            None => self.identify(request).await?,
        };
        if self.observer.is_some() {
            *seen = Some(identity.clone());
        }
        let Route::Operation(operation, segment) = route else {
            return Err(ApiError::NotFound);
        };
        let caller = operation.authorize(identity, &self.accepted)?;
        let call = operation.parse(&caller, segment, request.uri.query())?;
        let Some(limits) = &self.limits else {
            return self.answer(call, &caller, revision, &request.headers).await;
        };
        let counted = limits.take(caller.identity()).await?;
        let mut response = self.answer(call, &caller, revision, &request.headers).await?;
        if let Some(counted) = counted {
            counted.settle(&mut response).await;
        }
        Ok(response)
    }

    /// Finds out whose token the request carries, unless its client has tried too many.
    async fn identify(&self, request: &request::Parts) -> Result<Caller, ApiError> {
        let token = BearerToken::from_headers(&request.headers).map_err(ApiError::Unauthorized)?;
        let Some(limits) = &self.limits else {
            return self.authenticate(token).await;
        };
        let attempt = limits.attempt(token, request.extensions.get::<ClientAddress>()).await?;
        let found = self.authenticate(token).await;
        if let Some(attempt) = attempt {
            attempt.settle(&found).await;
        }
        found
    }

    /// Whose token it is, by the first authenticator that knows it.
    async fn authenticate(&self, token: BearerToken<'_>) -> Result<Caller, ApiError> {
        if let Some(credentials) = &self.credentials {
            match look_up(&**credentials, token).await? {
                (Verdict::Accepted(identity), revision) => return Ok(Caller { identity, revision }),
                (Verdict::Refused(refusal), _) => return Err(ApiError::Unauthorized(refusal)),
                (Verdict::NotMine, _) => {}
            }
        }
        for authenticator in &self.authenticators {
            match authenticator.authenticate(token).await? {
                Verdict::Accepted(identity) => return Ok(Caller { identity, revision: None }),
                Verdict::Refused(refusal) => return Err(ApiError::Unauthorized(refusal)),
                Verdict::NotMine => {}
            }
        }
        Err(ApiError::Unauthorized(Refusal::Invalid))
    }

    /// Answers a call: where the storage keeps revisions, from what is kept or with 304 as long as the revision is the
    /// same, without reading a course.
    async fn answer(
        &self,
        call: operation::Request,
        caller: &Authorized,
        revision: Option<Revision>,
        headers: &HeaderMap,
    ) -> Result<Response<Bytes>, ApiError> {
        let revision = match revision {
            _ if !call.reads_courses() => None,
            None => self.courses.revision(caller.account()).await?,
            known => known,
        };
        let Some(revision) = revision else {
            let reply = call.run(&*self.courses, caller).await?;
            return Ok(envelope::answer(&self.entity(&reply.value, None), headers));
        };
        let key = Key { account: caller.account().clone(), revision, request: call };
        if let Some(kept) = self.page_cache.get(&key) {
            return Ok(envelope::answer(&kept, headers));
        }
        let etag = self.rendering.tag(&key);
        // A star would name an answer that may not be there; this very tag was only ever given to one that was.
        if etag.is_listed_in(headers) {
            return Ok(envelope::not_modified(&etag));
        }
        let entity = Box::pin(self.page_cache.get_or_render(&key, self.render(&key, etag, caller))).await?;
        Ok(envelope::answer(&entity, headers))
    }

    /// Renders the answer that depends on `key`. Its tag is for the revision asked for: the courses were of that one if
    /// it is still the same when they are read, as none ever comes back.
    async fn render(&self, key: &Key, etag: ETag, caller: &Authorized) -> Result<Fresh, ApiError> {
        let reply = key.request.clone().run(&*self.courses, caller).await?;
        let same = reply.revision == Some(key.revision);
        let entity = self.entity(&reply.value, same.then_some(etag));
        Ok(if same { Fresh::OfTheRevision(entity) } else { Fresh::Changed(entity) })
    }

    /// A reply as bytes, with that tag or one of their own.
    fn entity(&self, reply: &Reply, etag: Option<ETag>) -> Arc<Entity> {
        match envelope::render(reply, etag, &self.router.base) {
            Some(entity) => Arc::new(entity),
            None => Arc::clone(self.documents.get(Document::OpenApi)),
        }
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

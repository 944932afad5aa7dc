//! [`DeveloperSettings`], and how a request passes through them.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use catalogue_core::limit::{Acquired, RateLimitKey, RateLimiter};
use catalogue_core::storage::{CredentialStorage, KeyStorage};
use catalogue_core::{AccountId, RequestIds, Timestamp};
use http::header::{ALLOW, CONTENT_LENGTH, RETRY_AFTER, SET_COOKIE, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode, request};
use http_body::Body;

use crate::body::{self, FORM, JSON};
use crate::call::Call;
use crate::failure::Failure;
use crate::form::Form;
use crate::owner::{Owner, OwnerSource};
use crate::pages::Frame;
use crate::route::{self, RouteMatch};
use crate::urls::SettingsUrls;
use crate::{api, pages, response, security};

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Maximum number of concurrent requests.
const MAX_IN_FLIGHT: usize = 64;

/// The developer settings of a catalogue. Cheap to clone; clones share everything.
///
/// See the [crate's documentation](crate) for an example.
#[derive(Clone, Debug)]
pub struct DeveloperSettings(pub(crate) Arc<Inner>);

/// Shared state of the developer settings.
pub(crate) struct Inner {
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) urls: SettingsUrls,
    /// The product's name, and the URL that it links to.
    pub(crate) brand: (String, String),
    /// Whether scripts of these pages may call the API.
    pub(crate) can_try: bool,
    pub(crate) clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
    pub(crate) changes: Arc<dyn RateLimiter>,
    pub(crate) policy: HeaderValue,
    pub(crate) request_ids: RequestIds,
    /// Has one more reference for each request in progress.
    pub(crate) in_flight: Arc<()>,
}

/// Storage of the keys of accounts, with lookups by digest.
pub(crate) trait Storage: KeyStorage + CredentialStorage {}
impl<S: KeyStorage + CredentialStorage> Storage for S {}

const NO_ACTION: &str = "none";

/// Action and account of a request, among the extensions of its response, for the host application's logs and metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestLabels {
    /// Name of the action, from a fixed list, such as `create_key`; `none` if the path and method have no action.
    pub action: &'static str,
    /// The account whose keys the request was about, if known.
    pub account: Option<AccountId>,
}

impl RequestLabels {
    /// Returns all values of [`action`](Self::action), some of them twice.
    pub fn actions() -> impl Iterator<Item = &'static str> {
        route::action_names().chain([NO_ACTION])
    }
}

impl DeveloperSettings {
    /// Responds to a request of an owner whom the host application has authenticated; failures are responses too.
    ///
    /// Reads at most 16 KiB of the body, which must be unread.
    pub async fn call_as<B: Body>(&self, owner: Owner, request: Request<B>) -> Response<Bytes> {
        self.0.call(OwnerSource::Host(&owner), request).await
    }
}

impl Inner {
    pub(crate) async fn call<B: Body>(&self, source: OwnerSource<'_>, request: Request<B>) -> Response<Bytes> {
        let (head, body) = request.into_parts();
        let request_id = self.request_ids.of(&head.headers);
        let permit = Arc::clone(&self.in_flight);
        let has_sign_in = matches!(source, OwnerSource::SignIn(_));
        let below = self.urls.settings.below(head.uri.path());
        let below = below.filter(|below| has_sign_in || !matches!(*below, "/sign-in" | "/sign-out"));
        let matched = below.ok_or(Failure::NotFound).and_then(|below| route::find(below, &head.method));
        let action = matched.as_ref().map_or(NO_ACTION, |matched| matched.name);
        let mut owner = None;
        // The settings themselves hold one reference.
        let is_full = Arc::strong_count(&permit) > MAX_IN_FLIGHT + 1;
        let outcome = match matched {
            _ if is_full => Err(Failure::RateLimited(1)),
            Ok(matched) => self.respond(source, &head, body, matched, &mut owner).await,
            Err(failure) => Err(failure),
        };
        let response = outcome.unwrap_or_else(|failure| {
            self.refuse(&failure, below.is_some_and(route::is_api), &head, owner.as_ref(), &request_id)
        });
        let account = owner.map(|owner| owner.account);
        self.finish(response, &head, request_id, RequestLabels { action, account })
    }

    /// Processes a request; each step may refuse it.
    async fn respond<B: Body>(
        &self,
        source: OwnerSource<'_>,
        head: &request::Parts,
        body: B,
        matched: RouteMatch,
        identified: &mut Option<Owner>,
    ) -> Result<Response<Bytes>, Failure> {
        security::check(head, &self.urls.settings)?;
        let now = (self.clock)();
        let owner = match source {
            OwnerSource::Missing => return Err(Failure::NoOwner),
            OwnerSource::Host(owner)
                if owner.is_unverified
                    && self.storage.list_keys(&owner.account, Timestamp::MAX, 0).await?.is_none() =>
            {
                return Err(Failure::NoOwner);
            }
            OwnerSource::Host(owner) => owner.clone(),
            OwnerSource::SignIn(sign_in) if matched.action.is_sign_in() => {
                return sign_in.respond(self, head, &form(head, body).await?, matched.action, identified).await;
            }
            OwnerSource::SignIn(sign_in) => sign_in.owner(self, head, now).await?,
        };
        let call = Call { inner: self, owner: identified.insert(owner), now };
        if !is_read(head) {
            acquire(&*self.changes, RateLimitKey::Change(&call.owner.account)).await?;
        }
        if matched.is_api {
            let body = if is_read(head) { Vec::new() } else { body::read(&head.headers, body, JSON).await? };
            return api::respond(call, &matched, &body).await;
        }
        pages::respond(call, &matched, &form(head, body).await?).await
    }

    fn refuse(
        &self,
        failure: &Failure,
        is_api: bool,
        head: &request::Parts,
        owner: Option<&Owner>,
        request_id: &HeaderValue,
    ) -> Response<Bytes> {
        let id = request_id.to_str().expect("request ids are visible ASCII");
        failure.log(id);
        let mut response = match failure {
            Failure::Options(_) => response::empty(failure.status()),
            _ if is_api => api::failure(failure, id),
            Failure::SignedOut(reason, _) => response::see_other(&self.sign_in_page(reason, head)),
            _ => {
                let may_be_sign_in = owner.is_none() && !matches!(failure, Failure::NotFound);
                let at_sign_in = may_be_sign_in && head.uri.path() == self.urls.page("/sign-in");
                let page = pages::failure(Frame { inner: self, owner }, failure, id, at_sign_in);
                response::html(failure.status(), page)
            }
        };
        let headers = response.headers_mut();
        match failure {
            Failure::Options(allow) | Failure::Method(allow) => {
                headers.insert(ALLOW, HeaderValue::try_from(allow.as_str()).expect("methods are visible ASCII"));
            }
            Failure::RateLimited(seconds) => {
                headers.insert(RETRY_AFTER, HeaderValue::from(*seconds));
            }
            Failure::SignedOut(_, Some(cookie)) => {
                headers.insert(SET_COOKIE, cookie.clone());
            }
            _ => {}
        }
        response
    }

    /// Returns the URL of the sign-in page, with the reason and, if a page was requested, the way back to it.
    fn sign_in_page(&self, reason: &str, head: &request::Parts) -> String {
        let next = head.uri.path_and_query().map(http::uri::PathAndQuery::as_str).unwrap_or_default();
        let mut query = form_urlencoded::Serializer::new(String::new());
        if is_read(head) && route::is_page(&self.urls.settings, next) {
            query.append_pair("next", next);
        }
        if reason != "missing" {
            query.append_pair("why", reason);
        }
        let (page, query) = (self.urls.page("/sign-in"), query.finish());
        if query.is_empty() { page } else { format!("{page}?{query}") }
    }

    /// Adds the headers of every response, and removes the body from a response to HEAD.
    fn finish(
        &self,
        mut response: Response<Bytes>,
        head: &request::Parts,
        request_id: HeaderValue,
        labels: RequestLabels,
    ) -> Response<Bytes> {
        let (status, length) = (response.status(), response.body().len());
        let headers = response.headers_mut();
        security::protect(headers, &self.policy);
        headers.insert(X_REQUEST_ID, request_id);
        if status != StatusCode::NO_CONTENT {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Cookie realm=\"catalogue-settings\""));
        }
        response.extensions_mut().insert(labels);
        if head.method == Method::HEAD {
            response.body_mut().clear();
        }
        response
    }
}

fn is_read(head: &request::Parts) -> bool {
    matches!(head.method, Method::GET | Method::HEAD)
}

/// Returns the fields of a form that was sent, or of the query of a page.
async fn form<B: Body>(head: &request::Parts, body: B) -> Result<Form, Failure> {
    Ok(match is_read(head) {
        true => Form::parse(head.uri.query().unwrap_or_default().as_bytes()),
        false => Form::parse(&body::read(&head.headers, body, FORM).await?),
    })
}

/// Counts a request against the limit of `key`, or fails with the time until a retry. Returns the window for a refund, or
/// `None` if the limiter did not count the request.
pub(crate) async fn acquire(limiter: &dyn RateLimiter, key: RateLimitKey<'_>) -> Result<Option<u64>, Failure> {
    match limiter.acquire(key).await {
        Acquired::Limited { resets_in } => {
            let seconds = resets_in.as_secs().saturating_add(u64::from(resets_in.subsec_nanos() > 0));
            Err(Failure::RateLimited(u32::try_from(seconds).unwrap_or(u32::MAX).max(1)))
        }
        Acquired::Granted { window, .. } => Ok(Some(window)),
        _ => Ok(None),
    }
}

/// Omits what is not for logs.
impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeveloperSettings").field("urls", &self.urls).finish_non_exhaustive()
    }
}

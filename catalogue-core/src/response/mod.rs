//! [`Responder`]: responds to a call from the page cache, with 304, or by rendering. The submodules make bytes and headers.

mod cache_key;
pub(crate) mod conditional;
pub(crate) mod entity;
pub(crate) mod envelope;
pub(crate) mod negotiation;
pub(crate) mod page_cache;
pub(crate) mod rendering;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};

use crate::error::ApiError;
use crate::model::Revision;
use crate::operation::{Authorized, Call};
use crate::storage::CourseStorage;
use cache_key::{CacheKey, Subject};
use conditional::{ETag, has_wildcard};
use entity::Entity;
use page_cache::{PageCache, Rendered};
use rendering::Rendering;

/// Responder to the calls of authorized callers. Clones share the page cache.
#[derive(Clone, Debug)]
pub(crate) struct Responder {
    courses: Arc<dyn CourseStorage>,
    pub(crate) page_cache: Arc<PageCache>,
}

impl Responder {
    /// Creates a responder that reads from `courses` and caches up to `page_cache` bytes.
    pub(crate) fn new(courses: Arc<dyn CourseStorage>, page_cache: usize) -> Self {
        Self { courses, page_cache: Arc::new(PageCache::new(page_cache)) }
    }

    /// Responds to a call from the cache or with 304, without reading a course. Otherwise renders the response.
    pub(crate) async fn respond(
        &self,
        rendering: &Rendering,
        call: Call,
        caller: &Authorized<'_>,
        revision: Option<Revision>,
        headers: &HeaderMap,
    ) -> Result<CallResponse, ApiError> {
        let subject = match (&call, revision) {
            (Call::Me, _) => Some(Subject::Caller(Box::new(caller.identity().clone()))),
            (_, None) => self.courses.revision(caller.account()).await?.map(Subject::Courses),
            (_, Some(revision)) => Some(Subject::Courses(revision)),
        };
        // Rendering is boxed, so that responses without rendering do not reserve space for it.
        let Some(subject) = subject else {
            let work = async move {
                let reply = call.run(&*self.courses, caller).await?;
                let entity = envelope::entity(reply, None, &rendering.base);
                Ok(CallResponse { response: envelope::success(&entity, headers), rendered: true })
            };
            return Box::pin(work).await;
        };
        let key = CacheKey { mount: rendering.mount, account: caller.account().clone(), subject, call };
        if let Some(cached) = self.page_cache.get(&key) {
            return Ok(CallResponse { response: envelope::success(&cached, headers), rendered: false });
        }
        let etag = rendering.tag(&key);
        // `*` needs rendering, since it must not match a course that does not exist. A listed tag proves that it exists.
        if etag.is_listed_in(headers) {
            return Ok(CallResponse { response: envelope::not_modified(&etag), rendered: false });
        }
        let work = async move {
            let entity = self.page_cache.get_or_render(&key, self.render(rendering, &key, etag, caller)).await?;
            Ok(CallResponse { response: envelope::success(&entity, headers), rendered: true })
        };
        Box::pin(work).await
    }

    /// Renders the response for `key`, with `etag` if the courses are still at the revision in `key`.
    async fn render(
        &self,
        rendering: &Rendering,
        key: &CacheKey,
        etag: ETag,
        caller: &Authorized<'_>,
    ) -> Result<Rendered, ApiError> {
        let reply = key.call.run(&*self.courses, caller).await?;
        let cacheable = match key.subject {
            Subject::Courses(revision) => reply.revision == Some(revision),
            Subject::Caller(_) => true,
        };
        let entity = Arc::new(envelope::entity(reply, cacheable.then_some(etag), &rendering.base));
        Ok(Rendered { entity, cacheable })
    }
}

pub(crate) struct CallResponse {
    pub(crate) response: Response<Bytes>,
    /// Whether the response was rendered, for this call or for a concurrent one with the same key.
    rendered: bool,
}

impl CallResponse {
    /// Creates the response with a document, which is rendered only once.
    pub(crate) fn document(document: &Entity, request: &HeaderMap) -> Self {
        Self { response: envelope::success(document, request), rendered: false }
    }

    /// Returns whether the rate limit refunds the request (decision A2): it got a 304 for a listed tag, without rendering.
    /// `*` is never refunded: otherwise its cost would depend on what other requests have cached.
    pub(crate) fn is_refundable(&self, request: &HeaderMap) -> bool {
        self.response.status() == StatusCode::NOT_MODIFIED && !self.rendered && !has_wildcard(request)
    }
}

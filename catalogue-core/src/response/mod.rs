//! [`Answers`]: what answers a call, from the page cache, with 304, or rendered. The files beside it make bytes and headers.

pub(crate) mod conditional;
pub(crate) mod entity;
pub(crate) mod envelope;
pub(crate) mod negotiation;
pub(crate) mod page_cache;
mod page_key;
pub(crate) mod rendering;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};

use crate::error::ApiError;
use crate::model::Revision;
use crate::operation::{Authorized, Call};
use crate::storage::CourseStorage;
use conditional::{ETag, names_any};
use entity::Entity;
use page_cache::{Fresh, PageCache};
use page_key::{Key, Shown};
use rendering::Rendering;

/// Answers the calls of those who passed the gate. Clones share what is kept.
#[derive(Clone, Debug)]
pub(crate) struct Answers {
    courses: Arc<dyn CourseStorage>,
    pub(crate) page_cache: Arc<PageCache>,
}

impl Answers {
    /// Answers from `courses`, keeping up to that many bytes of them.
    pub(crate) fn new(courses: Arc<dyn CourseStorage>, page_cache: usize) -> Self {
        Self { courses, page_cache: Arc::new(PageCache::new(page_cache)) }
    }

    /// Answers a call: as long as what it shows is the same, from what is kept or with 304, reading no course.
    pub(crate) async fn answer(
        &self,
        rendering: &Rendering,
        call: Call,
        caller: &Authorized<'_>,
        revision: Option<Revision>,
        headers: &HeaderMap,
    ) -> Result<Answer, ApiError> {
        let shown = match (&call, revision) {
            (Call::Me, _) => Some(Shown::Caller(Box::new(caller.identity().clone()))),
            (_, None) => self.courses.revision(caller.account()).await?.map(Shown::Courses),
            (_, Some(revision)) => Some(Shown::Courses(revision)),
        };
        // Work is boxed, so that responses without any have no room for it.
        let Some(shown) = shown else {
            let work = async move {
                let reply = call.run(&*self.courses, caller).await?;
                let entity = envelope::entity(reply, None, &rendering.base);
                Ok(Answer { response: envelope::answer(&entity, headers), rendered: true })
            };
            return Box::pin(work).await;
        };
        let key = Key { mount: rendering.mount, account: caller.account().clone(), shown, call };
        if let Some(cached) = self.page_cache.get(&key) {
            return Ok(Answer { response: envelope::answer(&cached, headers), rendered: false });
        }
        let etag = rendering.tag(&key);
        // A star would name an answer that may not be there; this very tag was only ever given to one that was.
        if etag.is_listed_in(headers) {
            return Ok(Answer { response: envelope::not_modified(&etag), rendered: false });
        }
        let work = async move {
            let entity = self.page_cache.get_or_render(&key, self.render(rendering, &key, etag, caller)).await?;
            Ok(Answer { response: envelope::answer(&entity, headers), rendered: true })
        };
        Box::pin(work).await
    }

    /// Renders the answer that depends on `key`, with the tag if it still shows that.
    async fn render(
        &self,
        rendering: &Rendering,
        key: &Key,
        etag: ETag,
        caller: &Authorized<'_>,
    ) -> Result<Fresh, ApiError> {
        let reply = key.call.run(&*self.courses, caller).await?;
        let is_of_key = match key.shown {
            Shown::Courses(revision) => reply.revision == Some(revision),
            Shown::Caller(_) => true,
        };
        let entity = Arc::new(envelope::entity(reply, is_of_key.then_some(etag), &rendering.base));
        Ok(Fresh { entity, is_of_key })
    }
}

/// What answers a call.
pub(crate) struct Answer {
    pub(crate) response: Response<Bytes>,
    /// For this call, or for others that asked for the same at the same time.
    rendered: bool,
}

impl Answer {
    /// The answer with a document that was made once.
    pub(crate) fn document(document: &Entity, request: &HeaderMap) -> Self {
        Self { response: envelope::answer(document, request), rendered: false }
    }

    /// Whether a rate limit gets it back (decision A2): a 304 to a tag that the caller has, where nothing was rendered. A
    /// star is no tag, so that it does not matter what others asked for.
    pub(crate) fn is_free(&self, request: &HeaderMap) -> bool {
        self.response.status() == StatusCode::NOT_MODIFIED && !self.rendered && !names_any(request)
    }
}

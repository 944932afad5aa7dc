//! [`Answers`]: what answers a call, from the page cache, with 304, or rendered. The files beside it make bytes and headers.

pub(crate) mod coding;
pub(crate) mod conditional;
pub(crate) mod entity;
pub(crate) mod envelope;
pub(crate) mod list_body;
pub(crate) mod negotiation;
pub(crate) mod page_cache;
mod page_key;
pub(crate) mod rendering;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};

use crate::auth::Authorized;
use crate::error::ApiError;
use crate::mount::Mount;
use crate::operation::{Asked, Call};
use crate::storage::{CourseStorage, Revision};
use conditional::{ETag, names_any};
use page_cache::{Fresh, PageCache, PageCacheStatistics};
use page_key::{Key, Shows, Wanted};

/// Answers the calls of those who passed the gate. Clones share what is kept.
#[derive(Clone, Debug)]
pub(crate) struct Answers {
    courses: Arc<dyn CourseStorage>,
    page_cache: Arc<PageCache>,
}

impl Answers {
    /// Answers from `courses`, keeping up to that many bytes of them.
    pub(crate) fn new(courses: Arc<dyn CourseStorage>, page_cache: usize) -> Self {
        Self { courses, page_cache: Arc::new(PageCache::new(page_cache)) }
    }

    pub(crate) fn statistics(&self) -> PageCacheStatistics {
        self.page_cache.statistics()
    }

    /// Answers a call: as long as what it shows is the same, from what is kept or with 304, reading no course.
    pub(crate) async fn answer(
        &self,
        mount: &Mount,
        asked: Asked,
        caller: &Authorized<'_>,
        revision: Option<Revision>,
        headers: &HeaderMap,
    ) -> Result<Answer, ApiError> {
        let call = match asked {
            Asked::Call(call) => call,
            Asked::Document(document) => {
                let response = envelope::answer(mount.documents.get(document, mount.site()), headers);
                return Ok(Answer { response, rendered: false });
            }
        };
        let shows = match (&call, revision) {
            (Call::Me, _) => Some(Shows::Caller(caller.identity())),
            (_, None) => self.courses.revision(caller.account()).await?.map(Shows::Courses),
            (_, Some(revision)) => Some(Shows::Courses(revision)),
        };
        let Some(shows) = shows else {
            return Box::pin(self.answer_without_revision(mount, call, caller, headers)).await;
        };
        let wanted = Wanted { mount: mount.number, account: caller.account(), shows, call: &call };
        match self.answer_unrendered(mount, &wanted, headers) {
            Ok(answer) => Ok(answer),
            Err(etag) => {
                let key = Key::new(mount.number, caller.account(), shows, call);
                // Boxed, so that the others have no room for this.
                Box::pin(self.answer_rendered(mount, key, etag, caller, headers)).await
            }
        }
    }

    /// Answers from what is kept or with 304, or says which tag the answer will have that must be rendered.
    fn answer_unrendered(&self, mount: &Mount, wanted: &Wanted<'_>, headers: &HeaderMap) -> Result<Answer, ETag> {
        if let Some(kept) = self.page_cache.get(wanted) {
            return Ok(Answer { response: envelope::answer(&kept, headers), rendered: false });
        }
        let etag = mount.rendering.tag(wanted);
        // A star would name an answer that may not be there; this very tag was only ever given to one that was.
        if etag.is_listed_in(headers) {
            return Ok(Answer { response: envelope::not_modified(&etag), rendered: false });
        }
        Err(etag)
    }

    async fn answer_rendered(
        &self,
        mount: &Mount,
        key: Key,
        etag: ETag,
        caller: &Authorized<'_>,
        headers: &HeaderMap,
    ) -> Result<Answer, ApiError> {
        let entity = self.page_cache.get_or_render(&key, self.render(mount, &key, etag, caller)).await?;
        Ok(Answer { response: envelope::answer(&entity, headers), rendered: true })
    }

    /// Answers from courses that no revision stands for.
    async fn answer_without_revision(
        &self,
        mount: &Mount,
        call: Call,
        caller: &Authorized<'_>,
        headers: &HeaderMap,
    ) -> Result<Answer, ApiError> {
        let reply = call.run(&*self.courses, caller).await?;
        let entity = envelope::entity(reply, None, &mount.router.base);
        Ok(Answer { response: envelope::answer(&entity, headers), rendered: true })
    }

    /// Renders the answer that depends on `key`, with the tag if it still shows that.
    async fn render(&self, mount: &Mount, key: &Key, etag: ETag, caller: &Authorized<'_>) -> Result<Fresh, ApiError> {
        let reply = key.call.run(&*self.courses, caller).await?;
        let is_of_key = key.revision().is_none_or(|revision| reply.revision == Some(revision));
        let entity = Arc::new(envelope::entity(reply, is_of_key.then_some(etag), &mount.router.base));
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
    /// Whether a rate limit gets it back (decision A2): a 304 to a tag that the caller has, where nothing was rendered. A
    /// star is no tag, so that it does not matter what others asked for.
    pub(crate) fn is_free(&self, request: &HeaderMap) -> bool {
        self.response.status() == StatusCode::NOT_MODIFIED && !self.rendered && !names_any(request)
    }
}

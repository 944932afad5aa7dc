//! Views of a [`Catalogue`]: the same API at another address, or for callers whom the host identifies by itself.

use std::fmt;
use std::sync::Arc;

use http::request;

use super::{Catalogue, Inner};
use crate::build_error::BuildError;
use crate::model::Identity;
use crate::mount::Mount;

/// A host's function from a request's head to who sends it.
#[derive(Clone)]
pub(super) struct Identify(pub(super) Arc<Function>);

type Function = dyn Fn(&request::Parts) -> Option<Identity> + Send + Sync;

impl fmt::Debug for Identify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identify(..)")
    }
}

impl Catalogue {
    /// The same API at another address as well: a view of this catalogue for a route of the host's own.
    ///
    /// Answers to requests there name that address: the `Link` to the next page, and the server in `openapi.json`.
    /// Requests keep the path that the client sent. All else is shared: storage, authenticators, limits, page cache,
    /// observer, the documents' address, what they say of the host, and the function of
    /// [`identified_by`](Self::identified_by), whose docs have an example.
    ///
    /// Make the view once and clone it. It has documents of its own, and finds no answer that was cached for another view:
    /// one for each request would only fill the page cache.
    ///
    /// # Errors
    /// When `base_url` is not an address to mount at, or collides with the documents.
    pub fn mounted_at(&self, base_url: &str) -> Result<Self, BuildError> {
        let here = &self.0.mount;
        let mount = Arc::new(Mount::at(base_url, here.router.docs.clone(), false, here.about.clone())?);
        Ok(Self(Arc::new(Inner { mount, ..Inner::clone(&self.0) })))
    }

    /// The same API for callers whom the host knows by a request's head, such as its cookie or a header that a gateway
    /// sets: a view of this catalogue that asks `identify` before it looks for a bearer token.
    ///
    /// A caller whom `identify` names is answered like the holder of a valid token with that identity. Where it returns
    /// `None`, the bearer token decides as usual, and without one the answer is 401. A second call replaces the first.
    /// What has to be waited for, such as a session in a database, is looked up before: by a layer that leaves what it
    /// finds in the head's extensions, as far as the frontend keeps those, or for [`call_as`](Self::call_as).
    ///
    /// A header is as good as a token here, so it must be one that no client can send past the gateway. The id of an
    /// [`Identity::session`] is shown by `GET /me` (`apiKeyId`), to the observer and so in logs: never put the session's
    /// secret there.
    ///
    /// ```
    /// use catalogue_core::auth::{Identity, Scopes};
    /// use catalogue_core::storage::MemoryStorage;
    /// use catalogue_core::{AccountId, Catalogue};
    /// use http::request;
    ///
    /// /// Who has that session; a real host has many.
    /// fn session(head: &request::Parts) -> Option<Identity> {
    ///     let scopes = Scopes::from_names(["read:courses"]);
    ///     let identity = Identity::session(AccountId::new("acc_1"), "session_1", scopes);
    ///     (head.headers.get("cookie")? == "session=a-secret").then_some(identity)
    /// }
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let catalogue = Catalogue::with_api_keys(MemoryStorage::new()).base_url("/api/v1").build()?;
    /// let mine = catalogue.mounted_at("/my")?.identified_by(session);
    /// let request = http::Request::get("/my/courses").header("cookie", "session=a-secret").body(())?;
    /// assert_eq!(mine.call(request).await.status(), 200);
    /// # Ok(())
    /// # }
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(example()).unwrap();
    /// ```
    #[must_use]
    pub fn identified_by(
        &self,
        identify: impl Fn(&request::Parts) -> Option<Identity> + Send + Sync + 'static,
    ) -> Self {
        let identify = Some(Identify(Arc::new(identify)));
        Self(Arc::new(Inner { identify, ..Inner::clone(&self.0) }))
    }
}

//! Derived catalogues: the same API at another URL, or for callers that the host application identifies.

use std::fmt;
use std::sync::Arc;

use http::request;

use super::{Catalogue, Inner};
use crate::build_error::BuildError;
use crate::model::Identity;
use crate::mount::Mount;

/// The host application's function that identifies the sender of a request by its head.
#[derive(Clone)]
pub(super) struct Identify(pub(super) Arc<Function>);

type Function = dyn Fn(&request::Parts) -> Option<Identity> + Send + Sync;

impl fmt::Debug for Identify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identify(..)")
    }
}

impl Catalogue {
    /// Mounts the same API at another URL as well: returns a catalogue for a separate route of the host application.
    ///
    /// Responses to requests there name that URL: the `Link` to the next page, and the server in `openapi.json`. Pass
    /// requests with the whole path that the client sent. Everything else is shared: storage, authenticators, limits, page
    /// cache, observer, the documents' URL, title and contact, and the function of [`identified_by`](Self::identified_by),
    /// whose docs have an example.
    ///
    /// Create it once and clone it. Each mount renders its own documents and uses only responses that it has cached
    /// itself, so a mount for each request would only fill the page cache.
    ///
    /// # Errors
    /// Returns an error if `base_url` is not valid for a mount, or collides with the documents.
    pub fn mounted_at(&self, base_url: &str) -> Result<Self, BuildError> {
        let current = &self.0.mount;
        let mount = Arc::new(Mount::at(base_url, current.router.docs.clone(), false, current.about.clone())?);
        Ok(Self(Arc::new(Inner { mount, ..Inner::clone(&self.0) })))
    }

    /// Returns a catalogue for callers that the host application identifies by a request's head, such as its cookie or a
    /// header that a gateway sets. It has the same API, and calls `identify` before it checks the bearer token.
    ///
    /// A caller that `identify` names gets the same responses as the holder of a valid token with that identity. If
    /// `identify` returns `None`, the bearer token decides as usual, and a request without one gets a 401. A later call
    /// replaces the function. It cannot await: look up sessions of a database in an outer layer, and leave the result
    /// in the head's extensions (if the frontend keeps them) or pass it to [`call_as`](Self::call_as).
    ///
    /// A header is as good as a token here, so no client may be able to send it past the gateway. `GET /me` returns the
    /// id of an [`Identity::session`] as `apiKeyId`, and the observer gets it for logs: never use the session's secret
    /// as the id.
    ///
    /// ```
    /// use catalogue_core::auth::{Identity, Scopes};
    /// use catalogue_core::storage::MemoryStorage;
    /// use catalogue_core::{AccountId, Catalogue};
    /// use http::request;
    ///
    /// /// Returns the identity of the only session; a real host application has many.
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

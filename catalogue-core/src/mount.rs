//! [`Mount`]: the URLs that a catalogue is served at, and everything that depends on them.

use crate::build_error::BuildError;
use crate::documents::Documents;
use crate::documents::about::{About, Site};
use crate::documents::protected_resource::ProtectedResource;
use crate::mount_url::MountUrl;
use crate::response::entity::Entity;
use crate::response::rendering::Rendering;
use crate::route::{Route, Router};

/// Mount point of a catalogue, with what depends on its URLs: routes, documents and entity tags.
#[derive(Debug)]
pub(crate) struct Mount {
    pub(crate) router: Router,
    pub(crate) about: About,
    pub(crate) documents: Documents,
    pub(crate) rendering: Rendering,
    /// `None` without an authorization server, or if the base URL is only a path.
    pub(crate) resource: Option<ProtectedResource>,
}

impl Mount {
    /// Mounts the API at `base_url` and its documents at `docs`; with `serve_root`, serves the server's root too.
    pub(crate) fn at(base_url: &str, docs: MountUrl, serve_root: bool, about: About) -> Result<Self, BuildError> {
        let router = Router { base: MountUrl::parse(base_url).map_err(BuildError::BaseUrl)?, docs, serve_root };
        if router.base.path() == router.docs.path() {
            return Err(BuildError::SamePath(router.base.path().to_owned()));
        }
        if let Some((document, operation)) = router.collision() {
            return Err(BuildError::Collision { document, operation: operation.id() });
        }
        let site = Site { base: &router.base, docs: &router.docs, about: &about };
        Ok(Self {
            documents: Documents::default(),
            resource: ProtectedResource::of(base_url, site),
            rendering: Rendering::for_this_build(router.base.clone()),
            router,
            about,
        })
    }

    pub(crate) fn route<'r>(&self, path: &'r str) -> Route<'r> {
        match &self.resource {
            Some(resource) if resource.path == path => Route::ProtectedResource,
            _ => self.router.route(path),
        }
    }

    /// Returns the public document of `route`, or `None` if it is not one.
    pub(crate) fn document(&self, route: Route<'_>) -> Option<&Entity> {
        match route {
            Route::Document(document) => Some(self.documents.get(document, self.site())),
            Route::ProtectedResource => self.resource.as_ref().map(|resource| &resource.entity),
            _ => None,
        }
    }

    /// Returns the URLs and the facts that the documents are made from.
    pub(crate) fn site(&self) -> Site<'_> {
        Site { base: &self.router.base, docs: &self.router.docs, about: &self.about }
    }
}

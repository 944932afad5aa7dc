//! [`CatalogueService`], and the future and the body of its responses.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use catalogue_core::Catalogue;
use http::{Request, Response};
use http_body::{Frame, SizeHint};
use tower_service::Service;

use crate::nesting::Nesting;

/// Service that responds to every request like its catalogue. It is always ready and never fails. Cheap to clone.
///
/// See the [crate's documentation](crate) for an example.
#[derive(Clone, Debug)]
pub struct CatalogueService {
    catalogue: Catalogue,
    nesting: Nesting,
}

impl CatalogueService {
    /// Creates a service of `catalogue` that expects the path of a request as the client sent it.
    #[must_use]
    pub fn new(catalogue: Catalogue) -> Self {
        Self { catalogue, nesting: Nesting::default() }
    }

    /// Configures the service for a router that strips `prefix` from the path, such as axum's `nest_service`: the service
    /// restores it. A second call replaces the first.
    ///
    /// `prefix` is what all routers together strip. If the mounts share no prefix, nest the service at each of them:
    ///
    /// ```
    /// use axum::Router;
    /// use catalogue_core::Catalogue;
    /// use catalogue_core::storage::MemoryStorage;
    /// use catalogue_tower::CatalogueService;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let catalogue = Catalogue::with_api_keys(MemoryStorage::new()).base_url("/api/v1").docs_url("/docs").build()?;
    /// let service = CatalogueService::new(catalogue);
    /// let routes: Router = Router::new()
    ///     .nest_service("/api/v1", service.clone().nested_at("/api/v1"))
    ///     .nest_service("/docs", service.nested_at("/docs"));
    /// # let _ = routes;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Other changes by the router remain: for `/api/v1//me`, axum passes on `/me`, so the response is not a 404. axum's
    /// `fallback_service` and `route_service` leave the path unchanged.
    ///
    /// # Panics
    /// Panics if `prefix` is not the beginning of a path, such as `/api/v1`. `/` and the empty string change nothing.
    #[must_use]
    pub fn nested_at(mut self, prefix: &str) -> Self {
        self.nesting = Nesting::at(prefix);
        self
    }
}

impl<B> Service<Request<B>> for CatalogueService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture {
        let (mut head, _) = request.into_parts();
        head.uri = self.nesting.restore(head.uri);
        let request = Request::from_parts(head, ());
        let catalogue = self.catalogue.clone();
        ResponseFuture(Box::pin(async move { catalogue.call(request).await.map(Body::new) }))
    }
}

/// Future of a [`CatalogueService`]'s response.
#[must_use = "futures do nothing unless polled"]
pub struct ResponseFuture(Pin<Box<dyn Future<Output = Response<Body>> + Send>>);

impl Future for ResponseFuture {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(context).map(Ok)
    }
}

impl fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}

/// Body of a response: complete bytes, in one frame. Not a type of `http-body-util`, because each incompatible version of
/// that crate would break host applications.
#[derive(Clone, Debug, Default)]
pub struct Body(Option<Bytes>);

impl Body {
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self((!bytes.is_empty()).then_some(bytes))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

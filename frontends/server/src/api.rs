//! [`Api`]: the catalogue behind its warp filter, as the serving loop calls it.

use std::convert::Infallible;
use std::task::{Context, Poll};

use http::{Request, Response};
use tower_service::Service;

/// Hands each request's head over to the filter as a whole, which spares copying its headers.
#[derive(Clone, Debug)]
pub(crate) struct Api<S>(pub(crate) S);

impl<S, B, R> Service<Request<B>> for Api<S>
where
    S: Service<Request<B>, Response = Response<R>, Error = Infallible>,
{
    type Response = Response<R>;
    type Error = Infallible;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> S::Future {
        self.0.call(catalogue_warp::hand_over(request))
    }
}

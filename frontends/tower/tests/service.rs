//! Guarantees of the service: its traits, that it is always ready, and what it does with the bodies of requests and responses.

use std::cell::Cell;
use std::convert::Infallible;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use catalogue_core::Catalogue;
use catalogue_core::storage::MemoryStorage;
use catalogue_tower::{Body, CatalogueService, ResponseFuture};
use http::{Request, Response};
use http_body::Body as _;
use http_body_util::BodyExt as _;
use tower_service::Service;

fn service() -> CatalogueService {
    CatalogueService::new(Catalogue::with_api_keys(MemoryStorage::new()).build().unwrap())
}

#[test]
fn service_satisfies_bounds_of_frameworks() {
    fn is_shareable<T: Clone + Send + Sync + 'static>() {}
    fn is_sendable<T: Send + 'static>() {}
    fn is_infallible<S, B>()
    where
        S: Service<Request<B>, Response = Response<Body>, Error = Infallible, Future = ResponseFuture>,
    {
    }
    is_shareable::<CatalogueService>();
    is_sendable::<ResponseFuture>();
    is_shareable::<Body>();
    is_infallible::<CatalogueService, hyper::body::Incoming>();
    is_infallible::<CatalogueService, Rc<str>>();
}

#[test]
fn service_is_always_ready() {
    let ready = Service::<Request<()>>::poll_ready(&mut service(), &mut Context::from_waker(Waker::noop()));
    assert!(matches!(ready, Poll::Ready(Ok(()))));
}

/// A body that is neither `Send` nor an HTTP body, and records that it was dropped.
struct Dropped<'f>(&'f Cell<bool>);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

#[tokio::test]
async fn request_body_is_dropped_before_response() {
    let dropped = Cell::new(false);
    let future = service().call(Request::get("/api/v1/me").body(Dropped(&dropped)).unwrap());
    assert!(dropped.get());
    assert_eq!(future.await.unwrap().status(), 401);
}

#[tokio::test]
async fn response_body_is_one_frame_with_length() {
    let response = service().call(Request::get("/docs/llms.txt").body(()).unwrap()).await.unwrap();
    let length: u64 = response.headers()["content-length"].to_str().unwrap().parse().unwrap();
    let mut body = response.into_body();
    assert_eq!(body.size_hint().exact(), Some(length));
    assert!(!body.is_end_stream());
    let frame: Bytes = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(frame.len() as u64, length);
    assert!(body.is_end_stream());
    assert_eq!(body.size_hint().exact(), Some(0));
    assert!(body.frame().await.is_none());
}

#[tokio::test]
async fn body_of_head_response_is_at_its_end() {
    let response = service().call(Request::head("/docs/llms.txt").body(()).unwrap()).await.unwrap();
    assert_ne!(response.headers()["content-length"], "0");
    assert!(response.body().is_end_stream());
}

//! What a service owes its callers: any body, no wait, and an answer that can go anywhere.

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
fn frameworks_can_take_it() {
    fn shared<T: Clone + Send + Sync + 'static>() {}
    fn sent<T: Send + 'static>() {}
    fn infallible<S, B>()
    where
        S: Service<Request<B>, Response = Response<Body>, Error = Infallible, Future = ResponseFuture>,
    {
    }
    shared::<CatalogueService>();
    sent::<ResponseFuture>();
    shared::<Body>();
    infallible::<CatalogueService, hyper::body::Incoming>();
    infallible::<CatalogueService, Rc<str>>();
}

#[test]
fn it_is_always_ready() {
    let ready = Service::<Request<()>>::poll_ready(&mut service(), &mut Context::from_waker(Waker::noop()));
    assert!(matches!(ready, Poll::Ready(Ok(()))));
}

/// A body of a type that is neither `Send` nor a body, and that tells when it is dropped.
struct Dropped<'f>(&'f Cell<bool>);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

#[tokio::test]
async fn the_body_of_a_request_is_dropped_before_the_answer() {
    let dropped = Cell::new(false);
    let future = service().call(Request::get("/api/v1/me").body(Dropped(&dropped)).unwrap());
    assert!(dropped.get());
    assert_eq!(future.await.unwrap().status(), 401);
}

#[tokio::test]
async fn the_body_of_an_answer_is_one_frame_of_known_length() {
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
async fn the_body_of_an_answer_to_head_has_ended() {
    let response = service().call(Request::head("/docs/llms.txt").body(()).unwrap()).await.unwrap();
    assert_ne!(response.headers()["content-length"], "0");
    assert!(response.body().is_end_stream());
}

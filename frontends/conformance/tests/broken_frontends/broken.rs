//! A frontend on hyper whose conversions can be replaced by flawed ones.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use catalogue_core::Catalogue;
use catalogue_frontend_conformance::Server;
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{Request, Response, StatusCode, Uri};
use http_body_util::Full;
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

type Refuse = Box<dyn Fn(&Parts) -> Option<StatusCode> + Send + Sync>;
type Alter<T> = Box<dyn Fn(&Parts, &mut T) + Send + Sync>;

/// A frontend whose conversions may be replaced by a flaw.
pub(crate) struct Broken {
    refuse: Refuse,
    request: Alter<Parts>,
    response: Alter<Response<Bytes>>,
    needs_body: bool,
}

impl Broken {
    pub(crate) fn new() -> Self {
        Self {
            refuse: Box::new(|_| None),
            request: Box::new(|_, _| {}),
            response: Box::new(|_, _| {}),
            needs_body: false,
        }
    }

    /// Refuses the requests for which `refused` returns `true`, with a bare status.
    pub(crate) fn refuses(status: u16, refused: impl Fn(&Parts) -> bool + Send + Sync + 'static) -> Self {
        let status = StatusCode::from_u16(status).unwrap();
        Self { refuse: Box::new(move |head| refused(head).then_some(status)), ..Self::new() }
    }

    /// Alters the head of a request.
    pub(crate) fn request(alter: impl Fn(&mut Parts) + Send + Sync + 'static) -> Self {
        Self { request: Box::new(move |_, head| alter(head)), ..Self::new() }
    }

    /// Alters the path and query of a request.
    pub(crate) fn target(alter: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self::request(move |head| {
            let altered = alter(head.uri.path_and_query().map_or("", PathAndQuery::as_str));
            head.uri = Uri::try_from(altered).unwrap_or_else(|_| Uri::from_static("*"));
        })
    }

    /// Alters the response to a request.
    pub(crate) fn response(alter: impl Fn(&Parts, &mut Response<Bytes>) + Send + Sync + 'static) -> Self {
        Self { response: Box::new(alter), ..Self::new() }
    }

    /// Refuses a request with a 408 unless a part of its body has arrived with the head.
    pub(crate) fn needs_body() -> Self {
        Self { needs_body: true, ..Self::new() }
    }

    /// Serves each connection in a separate task; they end with the test's runtime.
    pub(crate) async fn serve(self, catalogue: Catalogue) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let frontend = Arc::new(self);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (frontend, catalogue) = (Arc::clone(&frontend), catalogue.clone());
                let service = service_fn(move |request| {
                    let (frontend, catalogue) = (Arc::clone(&frontend), catalogue.clone());
                    async move { Ok::<_, Infallible>(frontend.call(&catalogue, request).await.map(Full::new)) }
                });
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Server::new(address, ())
    }

    async fn call(&self, catalogue: &Catalogue, request: Request<Incoming>) -> Response<Bytes> {
        let (head, body) = request.into_parts();
        if let Some(status) = (self.refuse)(&head) {
            return empty_response(status);
        }
        if self.needs_body && !has_arrived(body).await {
            return empty_response(StatusCode::REQUEST_TIMEOUT);
        }
        let mut altered = head.clone();
        (self.request)(&head, &mut altered);
        let mut response = catalogue.call(Request::from_parts(altered, ())).await;
        (self.response)(&head, &mut response);
        response
    }
}

fn empty_response(status: StatusCode) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    response
}

/// Returns whether a part of the body has arrived with the head, or the body is empty.
async fn has_arrived(mut body: Incoming) -> bool {
    poll_fn(|context| Poll::Ready(body.is_end_stream() || Pin::new(&mut body).poll_frame(context).is_ready())).await
}

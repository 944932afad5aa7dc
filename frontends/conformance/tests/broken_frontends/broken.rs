//! A frontend on hyper whose conversions can be replaced by flawed ones.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use catalogue_core::Catalogue;
use catalogue_frontend_conformance::Server;
use http::request::Parts;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// Whether the body of a request is empty, or a part of it has arrived with the head: an extension of the head.
#[derive(Clone, PartialEq)]
pub(crate) struct BodyArrived(pub(crate) bool);

type AlterRequest = Box<dyn Fn(&mut Parts) -> Result<(), u16> + Send + Sync>;
type AlterResponse = Box<dyn Fn(&Parts, &mut Response<Bytes>) + Send + Sync>;

/// A frontend whose conversions may be replaced by a flaw.
pub(crate) struct Broken {
    /// Alters the head of a request, or refuses it with a bare status.
    request: AlterRequest,
    /// Alters the response to a request.
    response: AlterResponse,
}

impl Broken {
    pub(crate) fn new() -> Self {
        Self { request: Box::new(|_| Ok(())), response: Box::new(|_, _| {}) }
    }

    pub(crate) fn request(alter: impl Fn(&mut Parts) -> Result<(), u16> + Send + Sync + 'static) -> Self {
        Self { request: Box::new(alter), ..Self::new() }
    }

    pub(crate) fn response(alter: impl Fn(&Parts, &mut Response<Bytes>) + Send + Sync + 'static) -> Self {
        Self { response: Box::new(alter), ..Self::new() }
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
        let (mut head, mut body) = request.into_parts();
        let mut arrived =
            |context: &mut Context<'_>| body.is_end_stream() || Pin::new(&mut body).poll_frame(context).is_ready();
        head.extensions.insert(BodyArrived(poll_fn(|context| Poll::Ready(arrived(context))).await));
        let mut altered = head.clone();
        let mut response = match (self.request)(&mut altered) {
            Ok(()) => catalogue.call(Request::from_parts(altered, ())).await,
            Err(status) => {
                let mut refusal = Response::new(Bytes::new());
                *refusal.status_mut() = StatusCode::from_u16(status).unwrap();
                refusal
            }
        };
        (self.response)(&head, &mut response);
        response
    }
}

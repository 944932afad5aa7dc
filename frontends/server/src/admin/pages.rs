//! [`Pages`]: the service behind `/live`, `/ready` and `/metrics`.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use tower_service::Service;

use super::Monitor;

const TEXT: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";

/// Serves the pages of a server's monitor.
#[derive(Clone, Debug)]
pub(super) struct Pages(pub(super) Arc<Monitor>);

impl<B> Service<Request<B>> for Pages {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let monitor = Arc::clone(&self.0);
        let (head, _) = request.into_parts();
        Box::pin(async move { Ok(respond(&monitor, &head.method, head.uri.path()).await) })
    }
}

async fn respond(monitor: &Monitor, method: &Method, path: &str) -> Response<Full<Bytes>> {
    if !["/live", "/ready", "/metrics"].contains(&path) {
        return page(StatusCode::NOT_FOUND, TEXT, "not found; use /live, /ready or /metrics\n".to_owned());
    }
    if *method != Method::GET && *method != Method::HEAD {
        let mut refusal = page(StatusCode::METHOD_NOT_ALLOWED, TEXT, "use GET or HEAD\n".to_owned());
        refusal.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refusal;
    }
    match path {
        "/live" => page(StatusCode::OK, TEXT, "live\n".to_owned()),
        "/metrics" => {
            let database = monitor.database().await;
            page(
                StatusCode::OK,
                catalogue_observers::prometheus::MEDIA_TYPE,
                monitor.metrics.render(monitor.began, &monitor.log, database.as_ref().map(Option::as_ref)),
            )
        }
        _ => {
            let (is_ready, body) = monitor.readiness().await;
            let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
            page(status, JSON, body.to_string())
        }
    }
}

fn page(status: StatusCode, media_type: &'static str, body: String) -> Response<Full<Bytes>> {
    let page = Response::builder().status(status).header(CONTENT_TYPE, media_type).header(CACHE_CONTROL, "no-store");
    page.body(Full::from(body)).expect("all headers are valid")
}

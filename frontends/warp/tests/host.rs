//! The catalogue next to the routes of a host application.

use std::convert::Infallible;

use bytes::Bytes;
use catalogue_core::Catalogue;
use catalogue_core::limit::{ClientAddress, LocalRateLimiter, RateLimit};
use catalogue_core::storage::MemoryStorage;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use tower_service::Service as _;
use warp::Filter;

fn catalogue() -> Catalogue {
    Catalogue::with_api_keys(MemoryStorage::new()).base_url("/api/v1").docs_url("/docs").build().unwrap()
}

/// Sends a request to a filter, like a server, and returns the response.
async fn send<F>(filter: F, request: Request<String>) -> Response<Bytes>
where
    F: Filter<Error = Infallible> + Clone + Send + Sync + 'static,
    F::Extract: warp::Reply,
{
    let response = warp::service(filter).call(request).await.unwrap();
    let (parts, body) = response.into_parts();
    Response::from_parts(parts, body.collect().await.unwrap().to_bytes())
}

#[tokio::test]
async fn filter_below_prefix_leaves_other_paths_to_host() {
    let prefix = warp::path("api").and(warp::path("v1"));
    let elsewhere = warp::any().map(|| "a page of the host");
    let routes = prefix.and(catalogue_warp::filter(catalogue())).or(elsewhere);
    let get = |path| Request::get(path).body(String::new()).unwrap();
    assert_eq!(send(routes.clone(), get("/api/v1/me")).await.status(), 401);
    assert_eq!(send(routes.clone(), get("/api/v1/nothing")).await.status(), 401);
    for path in ["/elsewhere", "/api/v10/me", "/docs"] {
        assert_eq!(send(routes.clone(), get(path)).await.body(), "a page of the host");
    }
}

/// A warp app with two catalogues: known routes go to the first, everything else to the second.
#[tokio::test]
async fn request_head_can_be_extracted_twice() {
    let first = catalogue_warp::filter(catalogue()).and_then(async |response: Response<Bytes>| {
        if response.status() == 404 { Err(warp::reject()) } else { Ok(response) }
    });
    let second = Catalogue::with_api_keys(MemoryStorage::new()).base_url("/v2").docs_url("/v2/docs").build().unwrap();
    let mut service = warp::service(first.or(catalogue_warp::filter(second)));
    for (path, status) in [("/docs", 200), ("/v2/docs", 200), ("/elsewhere", 404)] {
        for attached_head in [false, true] {
            let request = Request::get(path).body(String::new()).unwrap();
            let request = if attached_head { catalogue_warp::attach_head(request) } else { request };
            assert_eq!(service.call(request).await.unwrap().status(), status, "{path} {attached_head}");
        }
    }
}

/// The host application declares the client's address, with and without an attached head.
#[tokio::test]
async fn unknown_tokens_are_limited_by_client_address() {
    for attached_head in [false, true] {
        let limiter = LocalRateLimiter::new(RateLimit::new(1, std::time::Duration::from_secs(60)).unwrap());
        let catalogue = Catalogue::with_api_keys(MemoryStorage::new()).rate_limiter(limiter).build().unwrap();
        let mut service = warp::service(catalogue_warp::filter(catalogue));
        for (client, status) in [(Some(1), 401), (Some(1), 429), (Some(2), 401), (None, 401), (None, 401)] {
            let mut request = Request::get("/api/v1/me").header("authorization", "Bearer guess");
            if let Some(client) = client {
                request = request.extension(ClientAddress([192, 0, 2, client].into()));
            }
            let request = request.body(String::new()).unwrap();
            let request = if attached_head { catalogue_warp::attach_head(request) } else { request };
            assert_eq!(service.call(request).await.unwrap().status(), status, "{client:?} {attached_head}");
        }
    }
}

#[tokio::test]
async fn full_request_has_head_and_body() {
    let describe = |request: Request<Bytes>| async move {
        let client = request.extensions().get::<ClientAddress>().map(|client| client.0.to_string());
        let cookie = request.headers().get("cookie").map(|cookie| cookie.to_str().unwrap().to_owned());
        let (method, uri, body) = (request.method(), request.uri(), request.body());
        Response::new(format!("{method} {uri} {cookie:?} {client:?} {body:?}"))
    };
    let routes = warp::path("mine").and(catalogue_warp::full_request(4)).then(describe);
    let routes = routes.or(warp::any().map(|| "elsewhere"));
    let post = |body: &str| {
        let mut request = Request::post("/mine/a%2Fb?c=+").header("cookie", "session=1").body(body.to_owned()).unwrap();
        request.extensions_mut().insert(ClientAddress([192, 0, 2, 1].into()));
        request
    };
    for (sent, arrived) in [("", ""), ("1234", "1234"), ("12345", "12345"), ("123456", "12345")] {
        let all = format!("POST /mine/a%2Fb?c=+ Some(\"session=1\") Some(\"192.0.2.1\") b{arrived:?}");
        assert_eq!(send(routes.clone(), post(sent)).await.body(), &all);
        assert_eq!(send(routes.clone(), catalogue_warp::attach_head(post(sent))).await.body(), &all);
    }
    assert_eq!(send(routes, Request::post("/yours").body("1".to_owned()).unwrap()).await.body(), "elsewhere");
}

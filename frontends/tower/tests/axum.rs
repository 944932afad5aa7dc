//! The catalogue next to the routes of a host application on axum.

use axum::Router;
use axum::extract::Request;
use axum::routing::get;
use catalogue_core::auth::{Identity, Scopes};
use catalogue_core::storage::MemoryStorage;
use catalogue_core::{AccountId, Catalogue};
use catalogue_tower::CatalogueService;
use http::StatusCode;
use http_body_util::BodyExt as _;
use tower_service::Service as _;

fn service() -> CatalogueService {
    let builder = Catalogue::with_api_keys(MemoryStorage::new()).base_url("/api/v1").docs_url("/docs");
    CatalogueService::new(builder.build().unwrap())
}

fn host() -> Router {
    Router::new().route("/about", get(|| async { "a host" }))
}

/// Returns status and body of the response to a GET.
async fn fetch(mut routes: Router, path: &str) -> (StatusCode, String) {
    let response = routes.call(Request::get(path).body(axum::body::Body::empty()).unwrap()).await.unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn nested_service_leaves_other_paths_to_host() {
    let routes = host().nest_service("/api/v1", service().nested_at("/api/v1"));
    let routes = routes.fallback(|| async { (StatusCode::NOT_FOUND, "a page of the host") });
    assert_eq!(fetch(routes.clone(), "/api/v1/me").await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(fetch(routes.clone(), "/api/v1/nothing").await.0, StatusCode::UNAUTHORIZED);
    for elsewhere in ["/elsewhere", "/api/v10/me", "/docs"] {
        assert_eq!(fetch(routes.clone(), elsewhere).await, (StatusCode::NOT_FOUND, "a page of the host".to_owned()));
    }
}

#[tokio::test]
async fn doubly_nested_service_needs_whole_prefix() {
    let inner = Router::new().nest_service("/v1", service().nested_at("/api/v1"));
    assert_eq!(fetch(host().nest("/api", inner), "/api/v1/me").await.0, StatusCode::UNAUTHORIZED);
    let inner = Router::new().fallback_service(service().nested_at("/api/v1"));
    assert_eq!(fetch(host().nest("/api/v1", inner), "/api/v1/me").await.0, StatusCode::UNAUTHORIZED);
}

/// The layer reads a cookie and sets an extension, which identifies the caller.
#[tokio::test]
async fn layer_identifies_callers_of_one_route() {
    #[derive(Clone)]
    struct User(&'static str);

    let catalogue = Catalogue::with_api_keys(MemoryStorage::new()).build().unwrap();
    let mine = catalogue.mounted_at("/my").unwrap().identified_by(|head| {
        let User(account) = head.extensions.get()?;
        Some(Identity::api_key(AccountId::new(*account), "session", Scopes::from_names(["read:courses"])))
    });
    let log_in = axum::middleware::from_fn(async |mut request: Request, next: axum::middleware::Next| {
        if request.headers().get("cookie").is_some_and(|cookie| cookie == "session=1") {
            request.extensions_mut().insert(User("acc"));
        }
        next.run(request).await
    });
    let mut routes = Router::new()
        .route_service("/my/{*operation}", CatalogueService::new(mine))
        .fallback_service(CatalogueService::new(catalogue))
        .layer(log_in);
    for (path, cookie, status) in
        [("/my/courses", "session=1", 200), ("/my/courses", "session=2", 401), ("/api/v1/courses", "session=1", 401)]
    {
        let request = Request::get(path).header("cookie", cookie).body(axum::body::Body::empty()).unwrap();
        assert_eq!(routes.call(request).await.unwrap().status(), status, "{path} {cookie}");
    }
}

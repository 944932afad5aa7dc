//! The catalogue next to the routes of a host application on axum.

use axum::Router;
use axum::extract::Request;
use catalogue_core::auth::{Identity, Scopes};
use catalogue_core::storage::MemoryStorage;
use catalogue_core::{AccountId, Catalogue};
use catalogue_tower::CatalogueService;
use tower_service::Service as _;

#[tokio::test]
async fn doubly_nested_service_needs_whole_prefix() {
    let service = CatalogueService::new(Catalogue::with_api_keys(MemoryStorage::new()).build().unwrap());
    let service = service.nested_at("/api/v1");
    for mut routes in [
        Router::new().nest("/api", Router::new().nest_service("/v1", service.clone())),
        Router::new().nest("/api/v1", Router::new().fallback_service(service)),
    ] {
        let request = Request::get("/api/v1/me").body(axum::body::Body::empty()).unwrap();
        assert_eq!(routes.call(request).await.unwrap().status(), 401);
    }
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

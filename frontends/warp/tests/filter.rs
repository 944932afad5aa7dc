//! The filter answers as the core does: status, headers and bytes.

use std::convert::Infallible;

use bytes::Bytes;
use catalogue_core::{
    Account, AccountId, AdminStorage, Catalogue, Course, MemoryStorage, NewCredential, Scopes, Timestamp,
};
use http::{Method, Request, Response};
use http_body_util::BodyExt as _;
use tower_service::Service as _;
use warp::Filter;

/// A catalogue with one course whose slug needs encoding, and a key that reads it.
async fn catalogue() -> (Catalogue, String) {
    let storage = MemoryStorage::new();
    let account = AccountId::new("acc");
    let now = Timestamp::now();
    let mut import = storage.begin_import().await.unwrap();
    let record = Account { id: account.clone(), name: String::new(), email: String::new() };
    import.put_account(&record).await.unwrap();
    for slug in ["one", "using-🤗-transformers"] {
        let course = Course {
            account: account.clone(),
            slug: slug.to_owned(),
            title: slug.to_owned(),
            tagline: String::new(),
            language: "en".to_owned(),
            created_at: now,
            published_at: None,
            hidden: false,
            access_mode: None,
            modules: Vec::new(),
        };
        import.put_course(&course).await.unwrap();
    }
    import.commit().await.unwrap();
    let (token, credential) = NewCredential::api_key(account, "a key", Scopes::from_names(["read:courses"]));
    storage.create_credential(&credential).await.unwrap();
    (Catalogue::with_api_keys(storage).build().unwrap(), token.expose().to_owned())
}

/// Sends a request through a filter as a server does.
async fn send<F>(filter: F, request: Request<String>) -> Response<Bytes>
where
    F: Filter<Error = Infallible> + Clone + Send + Sync + 'static,
    F::Extract: warp::Reply,
{
    let answer = warp::service(filter).call(request).await.unwrap();
    let (parts, body) = answer.into_parts();
    Response::from_parts(parts, body.collect().await.unwrap().to_bytes())
}

#[tokio::test]
async fn answers_as_the_core_does() {
    let (catalogue, token) = catalogue().await;
    for (method, target) in [
        (Method::GET, "/api/v1/me"),
        (Method::HEAD, "/api/v1/me"),
        (Method::GET, "/api/v1/courses?limit=1"),
        (Method::GET, "/api/v1/courses?limit=0&limit=1"),
        (Method::GET, "/api/v1/courses?"),
        (Method::GET, "/api/v1/courses/one"),
        (Method::GET, "/api/v1/courses/using-%F0%9F%A4%97-transformers"),
        (Method::GET, "/api/v1/courses/a%2Fb"),
        (Method::GET, "/api/v1/courses/%zz"),
        (Method::GET, "//api/v1/me"),
        (Method::GET, "/api/v1/nothing"),
        (Method::GET, "/"),
        (Method::POST, "/api/v1/courses"),
        (Method::OPTIONS, "/api/v1/courses"),
        (Method::OPTIONS, "*"),
        (Method::GET, "/docs"),
        (Method::GET, "/docs/openapi.json"),
    ] {
        let request = || {
            Request::builder()
                .method(&method)
                .uri(target)
                .header("authorization", format!("Bearer {token}"))
                .header("x-request-id", "same")
                .body("ignored".to_owned())
                .unwrap()
        };
        let expected = catalogue.call(request()).await;
        let answer = send(catalogue_warp::filter(catalogue.clone()), request()).await;
        assert_eq!(answer.status(), expected.status(), "{method} {target}");
        assert_eq!(answer.headers(), expected.headers(), "{method} {target}");
        assert_eq!(answer.body(), expected.body(), "{method} {target}");
    }
}

#[tokio::test]
async fn every_header_reaches_the_catalogue() {
    let (catalogue, token) = catalogue().await;
    let request = |name: &str, value: &str| {
        let request = Request::get("/api/v1/courses").header("authorization", format!("Bearer {token}"));
        request.header(name, value).body(String::new()).unwrap()
    };
    let filter = catalogue_warp::filter(catalogue);
    let tag = send(filter.clone(), request("x-request-id", "x")).await.headers()["etag"].clone();
    assert_eq!(send(filter.clone(), request("if-none-match", tag.to_str().unwrap())).await.status(), 304);
    assert_eq!(send(filter.clone(), request("x-request-id", "mine")).await.headers()["x-request-id"], "mine");
    let preflight = Request::options("/docs/llms.txt").header("origin", "https://a.example");
    let preflight = preflight.header("access-control-request-method", "GET").body(String::new()).unwrap();
    assert_eq!(send(filter, preflight).await.headers()["access-control-allow-origin"], "*");
}

#[tokio::test]
async fn a_connect_is_not_found_and_does_not_panic() {
    let (catalogue, _) = catalogue().await;
    let request = Request::connect("example.com:443").body(String::new()).unwrap();
    let answer = send(catalogue_warp::filter(catalogue), request).await;
    assert_eq!(answer.status(), 404);
}

#[tokio::test]
async fn a_host_keeps_its_own_routes() {
    let (catalogue, _) = catalogue().await;
    let routes = warp::path!("about").map(|| "a host").or(catalogue_warp::filter(catalogue));
    let get = |path| Request::get(path).body(String::new()).unwrap();
    let about = send(routes.clone(), get("/about")).await;
    assert_eq!(about.body(), "a host");
    let unknown = send(routes, get("/elsewhere")).await;
    assert_eq!(unknown.status(), 404);
    assert!(unknown.body().starts_with(b"{\"error\":{\"code\":\"not_found\""));
}

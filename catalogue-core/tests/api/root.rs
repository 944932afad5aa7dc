//! The server's root, if the catalogue serves it (decision R12).

use catalogue_core::CatalogueBuilder;
use http::Method;

use crate::app::TestApp;

const BROWSER: [(&str, &str); 1] = [("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")];

#[tokio::test]
async fn browser_is_redirected_to_reference_page() {
    for (docs, page) in [("/docs", "/docs"), ("https://docs.example.com/d/", "https://docs.example.com/d")] {
        let app = TestApp::with(|builder| builder.serve_root().docs_url(docs)).await;
        for method in [Method::GET, Method::HEAD] {
            let response = app.send(method, "/", &BROWSER).await;
            assert_eq!((response.status.as_u16(), response.header("location")), (303, Some(page)));
            assert_eq!((response.header("vary"), response.header("content-length")), (Some("Accept"), Some("0")));
            assert!(response.body.is_empty() && response.header("x-request-id").is_some());
        }
    }
}

#[tokio::test]
async fn root_returns_404_to_other_clients() {
    let app = TestApp::with(CatalogueBuilder::serve_root).await;
    for accept in ["*/*", "application/json", "text/*", "text/html;q=0", ""] {
        for method in [Method::GET, Method::HEAD] {
            let response = app.send(method.clone(), "/", &[("accept", accept)]).await;
            assert_eq!(response.status, 404, "{method} {accept:?}");
        }
    }
    app.send(Method::GET, "/", &[]).await.failure(404, "not_found");
    for method in [Method::POST, Method::OPTIONS, Method::DELETE] {
        app.send(method, "/", &BROWSER).await.failure(404, "not_found");
    }
    for path in ["//", "/index.html", "/?x"] {
        let response = app.send(Method::GET, path, &BROWSER).await;
        assert_eq!(response.status, if path == "/?x" { 303 } else { 404 }, "{path}");
    }
}

#[tokio::test]
async fn agent_index_is_served_at_the_root() {
    let app = TestApp::with(CatalogueBuilder::serve_root).await;
    let [here, there] = ["/llms.txt", "/docs/llms.txt"].map(|path| app.send(Method::GET, path, &[]));
    let (here, there) = (here.await, there.await);
    assert_eq!((here.status.as_u16(), &here.body), (200, &there.body));
    for name in ["content-type", "cache-control", "etag", "access-control-allow-origin"] {
        assert!(here.header(name).is_some() && here.header(name) == there.header(name), "{name}");
    }
    assert_eq!(app.send(Method::OPTIONS, "/llms.txt", &[]).await.status, 204);
    app.send(Method::POST, "/llms.txt", &[]).await.failure(405, "invalid_request");
}

#[tokio::test]
async fn root_is_not_served_unless_enabled() {
    let usual = TestApp::new().await;
    let own = TestApp::with(CatalogueBuilder::serve_root).await;
    let mine = own.catalogue.mounted_at("/my").unwrap();
    for path in ["/", "/llms.txt"] {
        usual.send(Method::GET, path, &BROWSER).await.failure(404, "not_found");
        let request = http::Request::get(path).header("accept", "text/html").body(()).unwrap();
        assert_eq!(mine.call(request).await.status(), 404, "{path}");
    }
}

#[tokio::test]
async fn api_or_documents_at_root_take_precedence() {
    let api = TestApp::with(|builder| builder.serve_root().base_url("/")).await;
    for path in ["/", "/llms.txt"] {
        api.send(Method::GET, path, &BROWSER).await.failure(401, "unauthorized");
    }
    let docs = TestApp::with(|builder| builder.serve_root().docs_url("/")).await;
    assert_eq!(docs.send(Method::GET, "/", &BROWSER).await.status, 200);
}

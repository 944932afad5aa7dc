//! Decision R12: the server's root, where it is the catalogue's own.

use catalogue_core::CatalogueBuilder;
use http::Method;

use crate::app::TestApp;

const BROWSER: [(&str, &str); 1] = [("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")];

#[tokio::test]
async fn a_browser_at_the_root_is_led_to_the_reference_page() {
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

/// Only a parameter that is called `q` is a weight.
#[tokio::test]
async fn a_browser_may_say_more_of_html() {
    let app = TestApp::with(CatalogueBuilder::serve_root).await;
    for (accept, status) in
        [("text/html;quality=0", 303), ("text/html;level=1;Q=0.1", 303), ("text/html;level=1; q=0", 404)]
    {
        let response = app.send(Method::GET, "/", &[("accept", accept)]).await;
        assert_eq!(response.status, status, "{accept:?}");
    }
}

#[tokio::test]
async fn for_all_others_nothing_is_there() {
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
async fn the_index_for_agents_is_at_the_root_too() {
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
async fn the_root_of_a_host_is_left_alone() {
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
async fn what_stands_at_the_root_comes_first() {
    let api = TestApp::with(|builder| builder.serve_root().base_url("/")).await;
    for path in ["/", "/llms.txt"] {
        api.send(Method::GET, path, &BROWSER).await.failure(401, "unauthorized");
    }
    let docs = TestApp::with(|builder| builder.serve_root().docs_url("/")).await;
    assert_eq!(docs.send(Method::GET, "/", &BROWSER).await.status, 200);
}

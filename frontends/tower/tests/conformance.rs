//! Runs the frontend conformance suite on the service, on hyper and in axum.

use std::net::SocketAddr;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use catalogue_core::Catalogue;
use catalogue_frontend_conformance::{BASE, DOCS, Server};
use catalogue_tower::CatalogueService;
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};

mod over_http1 {
    catalogue_frontend_conformance::tests!(super::over_http1);
}

mod over_http2 {
    catalogue_frontend_conformance::http2_tests!(super::over_http2);
}

/// The service is the fallback of a router, which does not change the path.
mod in_axum {
    catalogue_frontend_conformance::tests!(super::in_axum);
}

/// The service is nested at both mounts, whose prefixes the router strips.
mod nested_in_axum {
    catalogue_frontend_conformance::tests!(super::nested_in_axum);
}

/// The service is at the routes of the README, which do not change the path. A fallback responds to paths outside of them.
mod routed_in_axum {
    catalogue_frontend_conformance::tests!(super::routed_in_axum);
}

async fn over_http1(catalogue: Catalogue) -> Server {
    let service = TowerToHyperService::new(CatalogueService::new(catalogue));
    let connection = move |stream| http1::Builder::new().serve_connection(TokioIo::new(stream), service.clone());
    hyper(connection).await
}

async fn over_http2(catalogue: Catalogue) -> Server {
    let service = TowerToHyperService::new(CatalogueService::new(catalogue));
    let builder = http2::Builder::new(TokioExecutor::new());
    hyper(move |stream| builder.serve_connection(TokioIo::new(stream), service.clone())).await
}

/// Serves each connection in its own task; the tasks end with the test's runtime.
async fn hyper<C>(connection: impl Fn(TcpStream) -> C + Send + 'static) -> Server
where
    C: Future<Output = hyper::Result<()>> + Send + 'static,
{
    let (listener, address) = listen().await;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(connection(stream));
        }
    });
    Server::new(address, ())
}

async fn in_axum(catalogue: Catalogue) -> Server {
    axum(Router::new().fallback_service(CatalogueService::new(catalogue))).await
}

async fn nested_in_axum(catalogue: Catalogue) -> Server {
    let service = CatalogueService::new(catalogue);
    let routes = Router::new()
        .nest_service(BASE, service.clone().nested_at(BASE))
        .nest_service(DOCS, service.clone().nested_at(DOCS))
        .fallback_service(service);
    // axum strips a second slash after the prefix too.
    axum(routes).await.expect_status("path::double_slash_after_mount_is_preserved", 200)
}

async fn routed_in_axum(catalogue: Catalogue) -> Server {
    let mut routes = Router::new();
    for path in ["", "/", "/{*rest}"] {
        for url in [BASE, DOCS] {
            routes = routes.route_service(&format!("{url}{path}"), CatalogueService::new(catalogue.clone()));
        }
    }
    let not_routed = async move |request: Request| {
        let path = format!("{}/", request.uri().path());
        assert!(![BASE, DOCS].iter().any(|url| path.starts_with(&format!("{url}/"))), "{path}");
        catalogue.call(request).await.map(Body::from)
    };
    axum(routes.fallback(not_routed)).await
}

async fn axum(routes: Router) -> Server {
    let (listener, address) = listen().await;
    tokio::spawn(async move { axum::serve(listener, routes).await });
    Server::new(address, ())
}

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

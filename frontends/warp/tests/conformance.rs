//! Runs the frontend conformance suite on the filter.

use std::net::SocketAddr;

use catalogue_core::Catalogue;
use catalogue_frontend_conformance::Server;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tower_service::Service;
use warp::Filter;

mod over_http1 {
    catalogue_frontend_conformance::tests!(super::over_http1);
}

mod over_http2 {
    catalogue_frontend_conformance::http2_tests!(super::over_http2);
}

mod attached_head {
    catalogue_frontend_conformance::tests!(super::attached_head);
}

/// Serves with warp; a route of the host application precedes the filter. The server ends with the test's runtime.
async fn over_http1(catalogue: Catalogue) -> Server {
    let (listener, address) = listen().await;
    let routes = warp::path!("about").map(|| "a host").or(catalogue_warp::filter(catalogue));
    tokio::spawn(warp::serve(routes).incoming(listener).run());
    Server::new(address, ())
}

/// Serves on hyper and attaches each head. The connections end with the test's runtime.
async fn attached_head(catalogue: Catalogue) -> Server {
    let (listener, address) = listen().await;
    let service = warp::service(catalogue_warp::filter(catalogue));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = service.clone();
            let attaching = service_fn(move |request: Request<Incoming>| {
                let mut service = service.clone();
                async move { service.call(catalogue_warp::attach_head(request)).await }
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), attaching));
        }
    });
    Server::new(address, ())
}

/// Serves each connection on hyper in its own task; the tasks end with the test's runtime.
async fn over_http2(catalogue: Catalogue) -> Server {
    let (listener, address) = listen().await;
    let service = TowerToHyperService::new(warp::service(catalogue_warp::filter(catalogue)));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let builder = http2::Builder::new(TokioExecutor::new());
            tokio::spawn(builder.serve_connection(TokioIo::new(stream), service.clone()));
        }
    });
    Server::new(address, ())
}

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

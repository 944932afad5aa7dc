//! Runs the frontend conformance suite on the warp filter over this server.

use std::future::pending;

use catalogue_core::Catalogue;
use catalogue_frontend_conformance::Server;
use tokio::net::TcpListener;

use super::certificates::Authority;
use super::{ServerConfig, serve};

mod in_cleartext {
    catalogue_frontend_conformance::tests!(super::in_cleartext);
}

mod over_tls {
    catalogue_frontend_conformance::tests!(async |catalogue| super::over_tls(catalogue, b"http/1.1").await);
}

mod over_http2 {
    catalogue_frontend_conformance::http2_tests!(async |catalogue| super::over_tls(catalogue, b"h2").await);
}

async fn in_cleartext(catalogue: Catalogue) -> Server {
    start_server(catalogue, ServerConfig::default(), None).await
}

/// Serves behind a tunnel, because the suite speaks cleartext.
async fn over_tls(catalogue: Catalogue, protocol: &'static [u8]) -> Server {
    let authority = Authority::new();
    let config = ServerConfig { tls: Some(authority.tls()), ..ServerConfig::default() };
    start_server(catalogue, config, Some((authority, protocol))).await
}

/// Serves until the test's runtime ends.
async fn start_server(
    catalogue: Catalogue,
    config: ServerConfig,
    tunnel: Option<(Authority, &'static [u8])>,
) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = warp::service(catalogue_warp::filter(catalogue));
    tokio::spawn(serve(listener, service, config, pending()));
    match tunnel {
        None => Server::new(address, ()),
        Some((authority, protocol)) => Server::new(authority.tunnel(address, protocol).await, ()),
    }
}

//! Over this loop, the warp filter passes the suite of every frontend.

use std::future::pending;

use catalogue_core::Catalogue;
use catalogue_frontend_conformance::Server;
use tokio::net::TcpListener;

use super::super::{Front, serve};

/// It ends with the test's runtime.
async fn fixture(catalogue: Catalogue) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = warp::service(catalogue_warp::filter(catalogue));
    tokio::spawn(serve(listener, service, Front::default(), pending()));
    Server::new(address, ())
}

catalogue_frontend_conformance::tests!(fixture);

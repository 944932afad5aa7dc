//! The filter passes the suite of every frontend.

use catalogue_core::Catalogue;
use catalogue_frontend_conformance::Server;
use tokio::net::TcpListener;
use warp::Filter;

/// Behind a route of the host's own; it ends with the test's runtime.
async fn fixture(catalogue: Catalogue) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let routes = warp::path!("about").map(|| "a host").or(catalogue_warp::filter(catalogue));
    tokio::spawn(warp::serve(routes).incoming(listener).run());
    Server::new(address, ())
}

catalogue_frontend_conformance::tests!(fixture);

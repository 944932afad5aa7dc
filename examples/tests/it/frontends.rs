//! The host applications on poem and Rocket pass the frontend suite, except where a framework differs as declared here.

use std::collections::HashSet;

use catalogue_core::Catalogue;
use catalogue_frontend_conformance::Server;
use poem::listener::TcpAcceptor;
use rocket::Config;
use rocket::config::{LogLevel, Shutdown};
use rocket::fairing::AdHoc;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

#[path = "../../poem/routes.rs"]
mod poem_routes;
#[path = "../../rocket/handler.rs"]
mod rocket_handler;

mod on_poem {
    catalogue_frontend_conformance::tests!(super::on_poem_over_http1);
}

mod on_poem_over_http2 {
    catalogue_frontend_conformance::http2_tests!(super::on_poem);
}

mod on_rocket {
    catalogue_frontend_conformance::tests!(super::on_rocket);
}

/// Starts the application on poem, which ends with the test's runtime.
async fn on_poem(catalogue: Catalogue) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = poem::Server::new_with_acceptor(TcpAcceptor::from_tokio(listener).unwrap());
    tokio::spawn(server.run(poem_routes::all(catalogue)));
    // poem's router decodes each path, and rejects paths that are not UTF-8.
    Server::new(address, ()).expect_status("path::invalid_escapes_are_preserved#2", 400)
}

async fn on_poem_over_http1(catalogue: Catalogue) -> Server {
    // poem's router returns its own 404 for a target without a path.
    on_poem(catalogue)
        .await
        .expect_other_body("http1::asterisk_returns_404")
        .expect_other_body("http1::connect_returns_404")
}

/// Starts the application on Rocket, which ends with the test's runtime and leaves signals to the test program.
async fn on_rocket(catalogue: Catalogue) -> Server {
    let shutdown = Shutdown { ctrlc: false, signals: HashSet::new(), ..Shutdown::default() };
    let config = Config { port: 0, log_level: LogLevel::Off, shutdown, ..Config::default() };
    let (sender, mut address) = mpsc::channel(1);
    let liftoff = AdHoc::on_liftoff("address", move |rocket| {
        let (address, port) = (rocket.config().address, rocket.config().port);
        Box::pin(async move { sender.send((address, port).into()).await.unwrap() })
    });
    let host = rocket::custom(config).mount("/", rocket_handler::routes(&catalogue)).attach(liftoff);
    tokio::spawn(host.launch());
    Server::new(address.recv().await.unwrap(), ())
        .adds_headers(["permissions-policy", "server", "x-frame-options"])
        // Rocket has a fixed list of methods, and rejects a target without a path.
        .expect_status("methods::extension_methods_are_preserved", 400)
        .expect_status("methods::method_case_is_preserved", 400)
        .expect_status("http1::connect_returns_404", 400)
        // Rocket drops a header that is not UTF-8, so the token is missing instead of malformed.
        .expect_other_body("credentials::non_ascii_bytes_are_preserved#1")
        // Rocket waits for the first bytes of each body, because a form may override the method there.
        .expect_status("http1::response_does_not_wait_for_body", None)
}

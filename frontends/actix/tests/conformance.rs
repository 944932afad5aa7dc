//! Runs the frontend conformance suite on the route, as the default service of an app and in scopes.

use std::net::TcpListener;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use actix_web::dev::ServerHandle;
use actix_web::rt::System;
use actix_web::web::{self, ServiceConfig};
use actix_web::{App, HttpServer};
use catalogue_actix::route;
use catalogue_core::Catalogue;
use catalogue_frontend_conformance::{BASE, DOCS, Server};

mod as_default_service {
    catalogue_frontend_conformance::tests!(super::as_default_service);
}

mod over_http2 {
    catalogue_frontend_conformance::http2_tests!(super::over_http2);
}

mod in_scopes {
    catalogue_frontend_conformance::tests!(super::in_scopes);
}

async fn as_default_service(catalogue: Catalogue) -> Server {
    refusing_non_ascii(400, serve(catalogue, mount_as_default_service))
}

/// On HTTP/2, an invalid target is a stream error without a response.
async fn over_http2(catalogue: Catalogue) -> Server {
    refusing_non_ascii(None, serve(catalogue, mount_as_default_service))
}

async fn in_scopes(catalogue: Catalogue) -> Server {
    let mount = |app: &mut ServiceConfig, catalogue: Catalogue| {
        app.service(web::scope(BASE).default_service(route(catalogue.clone())))
            .service(web::scope(DOCS).default_service(route(catalogue.clone())))
            .default_service(route(catalogue));
    };
    refusing_non_ascii(400, serve(catalogue, mount))
}

fn mount_as_default_service(app: &mut ServiceConfig, catalogue: Catalogue) {
    app.default_service(route(catalogue));
}

/// Declares that actix-web's version of `http` refuses non-ASCII targets: with `status`, or with no response if `None`.
fn refusing_non_ascii(status: impl Into<Option<u16>>, server: Server) -> Server {
    let status = status.into();
    server
        .expect_status("path::unescaped_text_is_preserved", status)
        .expect_status("query::unescaped_text_is_preserved", status)
}

/// A server on a dedicated thread. Dropping it stops the server.
struct Running {
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
}

fn serve(catalogue: Catalogue, mount: fn(&mut ServiceConfig, Catalogue)) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, handle) = mpsc::channel();
    let thread = thread::spawn(move || {
        System::new().block_on(async {
            let app = move || App::new().configure(|app| mount(app, catalogue.clone()));
            let server = HttpServer::new(app).workers(1).disable_signals();
            let server = server.listen_auto_h2c(listener).unwrap().run();
            sender.send(server.handle()).unwrap();
            server.await.unwrap();
        });
    });
    Server::new(address, Running { handle: handle.recv().unwrap(), thread: Some(thread) })
}

impl Drop for Running {
    fn drop(&mut self) {
        // `stop` sends the command immediately; its future only waits.
        drop(self.handle.stop(false));
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join)
            && !thread::panicking()
        {
            std::panic::resume_unwind(panic);
        }
    }
}

//! A host application on hyper only: its own routes, and the catalogue for all other requests.

use std::pin::pin;
use std::time::Duration;

use catalogue_core::Catalogue;
use catalogue_examples::{Arguments, Failure, listen, log, stop_signal};
use catalogue_sqlite::SqliteStorage;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::time::sleep;

type Error = Box<dyn std::error::Error + Send + Sync>;

async fn respond(catalogue: Catalogue, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Error> {
    match (request.method(), request.uri().path()) {
        (&Method::GET, "/about") => Ok(Response::new("a host application".into())),
        (&Method::POST, "/echo") => {
            let body = Limited::new(request.into_body(), 64 << 10).collect().await?;
            Ok(Response::new(body.to_bytes().into()))
        }
        _ => Ok(catalogue.call(request).await.map(Full::new)),
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::from_command_line();
    log();

    let storage = SqliteStorage::open_and_migrate(&arguments.database)?;
    let catalogue = Catalogue::with_api_keys(storage).base_url("/api/v1").docs_url("/docs").build()?;

    let mut stop = pin!(stop_signal()?);
    let listener = listen(arguments.listen).await?;
    let connections = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let Ok((stream, _)) = accepted else {
            // The process may be out of file descriptors until a connection closes.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let catalogue = catalogue.clone();
        let service = service_fn(move |request| respond(catalogue.clone(), request));
        // With a timer, hyper closes connections that do not send a complete head within thirty seconds.
        let connection = http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service);
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!("connection error: {error}");
            }
        });
    }
    drop(listener);
    connections.shutdown().await;
    Ok(())
}

//! A host application that counts responses. Its sessions give access to the catalogue, as tokens and as cookies.

mod counts;
mod routes;
mod sessions;

use std::sync::Arc;

use catalogue_core::Catalogue;
use catalogue_examples::{Arguments, Failure, listen, log, stop_signal};
use catalogue_sqlite::SqliteStorage;

use counts::Counts;
use routes::Host;
use sessions::Sessions;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::from_command_line();
    log();

    let storage = SqliteStorage::open_and_migrate(&arguments.database)?;
    let (sessions, counts) = (Sessions::default(), Arc::new(Counts::default()));
    // Looks up the keys of the database first, then the sessions. A token that neither knows gets a 401.
    let catalogue = Catalogue::with_api_keys(storage)
        .or_authenticator(sessions.clone())
        .observer(Arc::clone(&counts))
        .base_url("/api/v1")
        .docs_url("/docs")
        .build()?;
    let routes = routes::all(Host { sessions, counts }, catalogue)?;

    let stop = stop_signal()?;
    let listener = listen(arguments.listen).await?;
    axum::serve(listener, routes).with_graceful_shutdown(stop).await?;
    Ok(())
}

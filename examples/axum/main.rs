//! A host application on axum: its own routes, and the catalogue as the fallback.

use axum::Router;
use axum::routing::{get, post};
use catalogue_core::Catalogue;
use catalogue_examples::{Arguments, Failure, listen, log, stop_signal};
use catalogue_sqlite::SqliteStorage;
use catalogue_tower::CatalogueService;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::from_command_line();
    log();

    let storage = SqliteStorage::open_and_migrate(&arguments.database)?;
    let catalogue = Catalogue::with_api_keys(storage).base_url("/api/v1").docs_url("/docs").build()?;
    let routes = Router::new()
        .route("/about", get(async || "a host application"))
        .route("/echo", post(async |body: String| body))
        .fallback_service(CatalogueService::new(catalogue));

    let stop = stop_signal()?;
    let listener = listen(arguments.listen).await?;
    axum::serve(listener, routes).with_graceful_shutdown(stop).await?;
    Ok(())
}

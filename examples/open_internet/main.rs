//! A host application on axum for the open internet, without a proxy in front of it.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use catalogue_core::Catalogue;
use catalogue_examples::{Arguments, Failure, listen, log, stop_signal};
use catalogue_hyper::ServerConfig;
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
        .route("/echo", post(async |body: String| body).layer(DefaultBodyLimit::max(16 << 10)))
        .fallback_service(CatalogueService::new(catalogue));

    let stop = stop_signal()?;
    let listener = listen(arguments.listen).await?;
    catalogue_hyper::serve(listener, routes, ServerConfig::default(), stop).await;
    Ok(())
}

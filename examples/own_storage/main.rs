//! A host application with courses and keys in its own tables.

mod connections;
mod school;

use std::path::Path;

use axum::Router;
use axum::routing::get;
use catalogue_core::Catalogue;
use catalogue_examples::{Arguments, Failure, listen, log, stop_signal};
use catalogue_tower::CatalogueService;
use rusqlite::Connection;

use school::School;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::from_command_line();
    log();

    if !arguments.database.exists() {
        make_sample(&arguments.database)?;
    }
    let school = School::open(&arguments.database)?;
    let catalogue = Catalogue::with_api_keys(school).base_url("/api/v1").docs_url("/docs").build()?;
    let routes = Router::new()
        .route("/about", get(async || "an example school"))
        .fallback_service(CatalogueService::new(catalogue));

    let stop = stop_signal()?;
    let listener = listen(arguments.listen).await?;
    axum::serve(listener, routes).with_graceful_shutdown(stop).await?;
    Ok(())
}

/// Creates a sample school.
fn make_sample(path: &Path) -> rusqlite::Result<()> {
    let sample = concat!("BEGIN;", include_str!("schema.sql"), include_str!("sample.sql"), "COMMIT;");
    let school = Connection::open(path)?;
    let result = school.pragma_update(None, "journal_mode", "WAL").and_then(|()| school.execute_batch(sample));
    if result.is_err() {
        // Otherwise the next start would use the incomplete file.
        let _ = std::fs::remove_file(path);
    }
    result
}

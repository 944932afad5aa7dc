//! A host application on actix-web: its own services, and the catalogue as the default service.

use actix_web::{App, HttpServer, web};
use catalogue_core::Catalogue;
use catalogue_examples::{Arguments, Failure, listen, log, stop_signal};
use catalogue_sqlite::SqliteStorage;

#[actix_web::main]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::from_command_line();
    log();

    let storage = SqliteStorage::open_and_migrate(&arguments.database)?;
    let catalogue = Catalogue::with_api_keys(storage).base_url("/api/v1").docs_url("/docs").build()?;
    let app = move || {
        App::new()
            .route("/about", web::get().to(async || "a host application"))
            .route("/echo", web::post().to(async |body: web::Bytes| body))
            .default_service(catalogue_actix::route(catalogue.clone()))
    };

    let stop = stop_signal()?;
    let listener = listen(arguments.listen).await?.into_std()?;
    HttpServer::new(app).listen(listener)?.shutdown_signal(stop).run().await?;
    Ok(())
}

//! A host application on warp: its own filters, and the catalogue for all other requests.

use catalogue_core::Catalogue;
use catalogue_examples::{Arguments, Failure, listen, log, stop_signal};
use catalogue_sqlite::SqliteStorage;
use warp::Filter;
use warp::hyper::body::Bytes;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::from_command_line();
    log();

    let storage = SqliteStorage::open_and_migrate(&arguments.database)?;
    let catalogue = Catalogue::with_api_keys(storage).base_url("/api/v1").docs_url("/docs").build()?;
    let about = warp::path!("about").map(|| "a host application");
    let echo = warp::path!("echo").and(warp::post()).and(warp::body::bytes()).map(|body: Bytes| body.to_vec());
    let routes = about.or(echo).or(catalogue_warp::filter(catalogue));

    let stop = stop_signal()?;
    let listener = listen(arguments.listen).await?;
    warp::serve(routes).incoming(listener).graceful(stop).run().await;
    Ok(())
}

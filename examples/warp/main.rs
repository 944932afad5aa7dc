//! A host on warp that has a page of its own and hands everything else to the catalogue.
//!
//! ```sh
//! cargo run -p catalogue-examples --example warp -- --database sqlite:catalogue.db --listen 127.0.0.1:8080
//! curl http://127.0.0.1:8080/about
//! curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8080/api/v1/courses
//! ```
//!
//! `catalogue import` fills the database, `catalogue keys create` mints the token.

#![expect(clippy::print_stdout, reason = "a program tells where it listens")]

use std::error::Error;

use catalogue_core::Catalogue;
use catalogue_examples::{Arguments, stop_signal};
use catalogue_sqlite::SqliteStorage;
use tokio::net::TcpListener;
use warp::Filter;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::from_command_line()?;

    let storage = SqliteStorage::open_and_migrate(&arguments.database)?;
    let catalogue = Catalogue::with_api_keys(storage).base_url("/api/v1").docs_url("/docs").build()?;
    let routes = warp::path!("about").map(|| "a host of its own").or(catalogue_warp::filter(catalogue));

    let listener = TcpListener::bind(&arguments.listen).await?;
    println!("listening on http://{}", listener.local_addr()?);
    warp::serve(routes).incoming(listener).graceful(stop_signal()).run().await;
    Ok(())
}

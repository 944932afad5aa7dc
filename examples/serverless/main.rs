//! The catalogue as a serverless function: it reads events and writes responses.
//!
//! Each line of standard input is an event, and each line of standard output its response, like in a runtime that keeps a
//! function warm.

mod event;

use std::io::{BufRead, Write, stdin, stdout};

use catalogue_core::Catalogue;
use catalogue_examples::{Failure, database, log};
use catalogue_sqlite::SqliteStorage;
use clap::Parser;

use event::{Event, EventResponse};

#[derive(Parser)]
struct Arguments {
    /// Database to read
    #[arg(long, value_name = "ADDRESS", default_value = "sqlite:catalogue.db", value_parser = database)]
    database: std::path::PathBuf,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    log();

    // Opened once, before the first event, so that all events share the cache.
    let storage = SqliteStorage::open(&arguments.database)?;
    let catalogue = Catalogue::with_api_keys(storage).base_url("/api/v1").docs_url("/docs").build()?;

    let mut out = stdout();
    for line in stdin().lock().lines() {
        let response = handle(&catalogue, &line?).await;
        writeln!(out, "{}", serde_json::to_string(&response)?)?;
        out.flush()?;
    }
    Ok(())
}

async fn handle(catalogue: &Catalogue, event: &str) -> EventResponse {
    // The full message might contain a token.
    let event =
        serde_json::from_str(event).map_err(|error| format!("{:?} error at {}", error.classify(), error.column()));
    match event.and_then(Event::into_request) {
        Ok(request) => EventResponse::of(&catalogue.call(request).await),
        Err(error) => {
            tracing::warn!("invalid event: {error}");
            EventResponse::bad_request()
        }
    }
}

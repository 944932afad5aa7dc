//! A host application on Rocket: its own routes, and the catalogue for all other requests.

mod handler;

use std::io::{Write as _, stdout};
use std::net::SocketAddr;
use std::time::Duration;

use catalogue_core::Catalogue;
use catalogue_examples::{Arguments, Failure, log};
use catalogue_sqlite::SqliteStorage;
use rocket::config::LogLevel;
use rocket::error::ErrorKind;
use rocket::fairing::AdHoc;
use rocket::{Config, get, post, routes};
use tokio::time::sleep;

#[get("/about")]
fn about() -> &'static str {
    "a host application"
}

#[post("/echo", data = "<body>")]
fn echo(body: String) -> String {
    body
}

#[rocket::main]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::from_command_line();
    log();

    let storage = SqliteStorage::open_and_migrate(&arguments.database)?;
    let catalogue = Catalogue::with_api_keys(storage).base_url("/api/v1").docs_url("/docs").build()?;

    // Rocket's defaults stay enabled, except for its log, which it would write to standard output.
    let (address, port) = (arguments.listen.ip(), arguments.listen.port());
    let host = rocket::custom(Config { address, port, log_level: LogLevel::Off, ..Config::default() })
        .mount("/", routes![about, echo])
        .mount("/", handler::routes(&catalogue))
        .attach(AdHoc::on_liftoff("address", |rocket| {
            Box::pin(async move {
                let address = SocketAddr::from((rocket.config().address, rocket.config().port));
                // Ignore the error: standard output may be closed.
                let _ = writeln!(stdout(), "listening on http://{address}");
            })
        }));
    let Err(error) = host.launch().await else { return Ok(()) };
    // Rocket sometimes returns before running requests have finished, so wait here for its grace period.
    let ErrorKind::Shutdown(rocket, None) = error.kind() else { return Err(error.into()) };
    sleep(Duration::from_secs(rocket.config().shutdown.grace.into())).await;
    Ok(())
}

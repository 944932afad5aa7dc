//! A host application with its own login, whose users create API keys in the developer settings.

mod data;
mod login;
mod routes;

use std::net::SocketAddr;

use catalogue_core::Catalogue;
use catalogue_examples::{Failure, listen, log, stop_signal};
use catalogue_settings::DeveloperSettings;
use clap::Parser;

use login::Logins;
use routes::Host;

#[derive(Debug, Parser)]
#[command(about = None)]
struct Arguments {
    /// Address to listen on; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    log();

    let storage = data::storage().await?;
    let catalogue = Catalogue::with_api_keys(storage.clone())
        .base_url("/api/v1")
        .docs_url("/docs")
        .settings_url("/settings")
        .build()?;
    let settings = DeveloperSettings::builder(storage)
        .settings_url("/settings")
        .base_url("/api/v1")
        .docs_url("/docs")
        .brand("Example school", "/")
        .build()?;
    let routes = routes::all(Host { settings, logins: Logins::default() }, catalogue);

    let stop = stop_signal()?;
    let listener = listen(arguments.listen).await?;
    axum::serve(listener, routes).with_graceful_shutdown(stop).await?;
    Ok(())
}

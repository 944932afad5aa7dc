//! A host application on axum that accepts API keys and signed tokens of an authorization server.

mod key_set;

use axum::Router;
use axum::routing::get;
use catalogue_core::Catalogue;
use catalogue_core::auth::signed::SignedTokens;
use catalogue_examples::{Arguments, Failure, listen, log, stop_signal};
use catalogue_sqlite::SqliteStorage;
use catalogue_tower::CatalogueService;
use clap::Parser as _;
use http::Uri;
use tokio::time::sleep;

use key_set::FetchedKeySet;

#[derive(clap::Parser)]
struct Options {
    #[command(flatten)]
    server: Arguments,
    /// Issuer of accepted tokens (their claim `iss`)
    #[arg(long, value_name = "URL")]
    issuer: String,
    /// URL of the issuer's key set (the `jwks_uri` of its metadata)
    #[arg(long, value_name = "URL")]
    keys: Uri,
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let Options { server, issuer, keys } = Options::parse();
    log();

    let listener = listen(server.listen).await?;
    // URL of the API: the audience of tokens, and the `resource` in the metadata that name the issuer to clients.
    let base_url = format!("http://{}/api/v1", listener.local_addr()?);
    let tokens =
        SignedTokens::builder(&*issuer, &*base_url, FetchedKeySet::at(keys)?).account_claim("account").build()?;
    let storage = SqliteStorage::open_and_migrate(&server.database)?;
    let catalogue = Catalogue::with_api_keys(storage)
        .or_authenticator(tokens.clone())
        .authorization_server(issuer)
        .base_url(base_url)
        .build()?;
    tokio::spawn(async move {
        loop {
            sleep(tokens.refresh().await).await;
        }
    });

    let routes = Router::new()
        .route("/about", get(async || "a host application"))
        .fallback_service(CatalogueService::new(catalogue));
    axum::serve(listener, routes).with_graceful_shutdown(stop_signal()?).await?;
    Ok(())
}

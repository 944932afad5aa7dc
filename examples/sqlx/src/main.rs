//! Serves the platform at the address in the first argument, or at 127.0.0.1:8080, over `platform.db` in the working directory.

use std::error::Error;

use catalogue_core::admin::NewCredential;
use catalogue_core::auth::Scopes;
use catalogue_core::{AccountId, Catalogue};
use catalogue_example_sqlx::{Storage, routes};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool};
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // Without a subscriber, nobody sees the cause of a 500.
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let is_new = !std::fs::exists("platform.db")?;
    let options = SqliteConnectOptions::new().filename("platform.db").create_if_missing(true);
    let pool = SqlitePool::connect_with(options.journal_mode(SqliteJournalMode::Wal)).await?;
    let storage = Storage(pool.clone());
    if is_new {
        sqlx::raw_sql(include_str!("../schema.sql")).execute(&pool).await?;
        sqlx::raw_sql(include_str!("../sample.sql")).execute(&pool).await?;
        // In the page on which a user creates a key:
        let (token, key) = NewCredential::api_key(AccountId::new("1"), "partner", Scopes::from_names(["read:courses"]));
        storage.insert_key(&key).await?;
        println!("user 1 has the key {}", token.expose());
    }
    let catalogue = Catalogue::with_api_keys(storage).base_url("/api/v1").docs_url("/docs").build()?;
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("listening on http://{}", listener.local_addr()?);
    let mut terminate = signal(SignalKind::terminate())?;
    let stop = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            result = tokio::signal::ctrl_c() => result.expect("signals can be caught"),
        }
    };
    axum::serve(listener, routes(pool, catalogue)?).with_graceful_shutdown(stop).await?;
    Ok(())
}

//! A host application on poem: its own routes, and the catalogue for all other requests.

mod routes;

use catalogue_core::Catalogue;
use catalogue_examples::{Arguments, Failure, listen, log, stop_signal};
use catalogue_sqlite::SqliteStorage;
use poem::Server;
use poem::listener::TcpAcceptor;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::from_command_line();
    log();

    let storage = SqliteStorage::open_and_migrate(&arguments.database)?;
    let catalogue = Catalogue::with_api_keys(storage).base_url("/api/v1").docs_url("/docs").build()?;

    let stop = stop_signal()?;
    let listener = TcpAcceptor::from_tokio(listen(arguments.listen).await?)?;
    Server::new_with_acceptor(listener).run_with_graceful_shutdown(routes::all(catalogue), stop, None).await?;
    Ok(())
}

//! [`Tls`]: what is spoken to a server, in the clear or not.

use tokio_postgres::{Client, Config, Error, NoTls};

/// How sessions are spoken to.
#[derive(Clone)]
pub(crate) enum Tls {
    /// In the clear.
    Off,
}

impl Tls {
    /// Opens a session, and lets it be served for as long as its client is there.
    pub(crate) async fn connect(&self, config: &Config) -> Result<Client, Error> {
        match self {
            Self::Off => {
                let (client, connection) = config.connect(NoTls).await?;
                serve(connection);
                Ok(client)
            }
        }
    }
}

fn serve(connection: impl Future<Output = Result<(), Error>> + Send + 'static) {
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection to the database ended");
        }
    });
}

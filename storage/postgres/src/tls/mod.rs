//! [`Tls`]: whether a server is spoken to in the clear, and what an address says of it.

#[cfg(feature = "tls")]
mod verified;

use std::collections::HashMap;
use std::error::Error as _;
use std::fmt;

use tokio_postgres::{Client, Config, Error, NoTls};

use crate::open_error::OpenError;

/// What an address says of TLS, which tokio-postgres does not know or would understand otherwise.
pub(crate) const PARAMETERS: [&str; 4] = ["sslmode", "sslrootcert", "sslcert", "sslkey"];

/// How sessions are spoken to.
#[derive(Clone)]
pub(crate) enum Tls {
    /// In the clear.
    Off,
    /// Over TLS, with a server that proves its name.
    #[cfg(feature = "tls")]
    Verified(tokio_postgres_rustls::MakeRustlsConnect),
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Self::Off) { "Off" } else { "Verified" })
    }
}

impl Tls {
    /// As the parameters of an address say; reads the files that they name.
    pub(crate) fn of(said: &HashMap<&'static str, String>) -> Result<Self, OpenError> {
        let file = |name: &str| said.get(name).map(String::as_str);
        match file("sslmode") {
            Some("require" | "verify-ca" | "verify-full") => {
                #[cfg(feature = "tls")]
                return verified::connector(file("sslrootcert"), file("sslcert"), file("sslkey")).map(Self::Verified);
                #[cfg(not(feature = "tls"))]
                Err(OpenError::NoTls)
            }
            Some("disable") => Ok(Self::Off),
            None if PARAMETERS.iter().all(|name| file(name).is_none()) => Ok(Self::Off),
            _ => Err(OpenError::SslMode),
        }
    }

    /// Opens a session, and lets it be served for as long as its client is there.
    pub(crate) async fn connect(&self, config: &Config) -> Result<Client, Error> {
        Ok(match self {
            // A host that is a socket has no name that could be proved, and no TLS.
            #[cfg(feature = "tls")]
            Self::Verified(connector) if config.get_ssl_mode() == tokio_postgres::config::SslMode::Require => {
                serve(config.connect(connector.clone()).await?)
            }
            _ => serve(config.connect(NoTls).await?),
        })
    }
}

fn serve<C>((client, connection): (Client, C)) -> Client
where
    C: Future<Output = Result<(), Error>> + Send + 'static,
{
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection to the database ended");
        }
    });
    client
}

/// What is wrong with the TLS of a server, where that is what an error is about.
pub(crate) fn complaint(error: &Error) -> Option<&'static str> {
    let source = error.source()?;
    if source.to_string() == "server does not support TLS" {
        return Some("the database has no TLS, and the address asks for it (sslmode)");
    }
    #[cfg(feature = "tls")]
    return verified::complaint(source);
    #[cfg(not(feature = "tls"))]
    None
}

//! [`Tls`]: whether connections to a server use TLS, by the parameters of the connection string.

#[cfg(feature = "tls")]
mod verified;

use std::collections::HashMap;
use std::error::Error as _;
use std::fmt;

use tokio_postgres::{Client, Config, Error, NoTls};

use crate::open_error::OpenError;

/// TLS parameters of a connection string, which tokio-postgres does not know or interprets differently.
pub(crate) const PARAMETERS: [&str; 4] = ["sslmode", "sslrootcert", "sslcert", "sslkey"];

/// Transport of sessions.
#[derive(Clone)]
pub(crate) enum Tls {
    /// Unencrypted.
    Off,
    /// TLS with a server whose certificate and name are verified.
    #[cfg(feature = "tls")]
    Verified(tokio_postgres_rustls::MakeRustlsConnect),
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Self::Off) { "Off" } else { "Verified" })
    }
}

impl Tls {
    /// Creates the transport from the connection string's parameters; reads the files that they name.
    pub(crate) fn of(parameters: &HashMap<&'static str, String>) -> Result<Self, OpenError> {
        let get = |name: &str| parameters.get(name).map(String::as_str);
        match get("sslmode") {
            Some("require" | "verify-ca" | "verify-full") => {
                #[cfg(feature = "tls")]
                return verified::connector(get("sslrootcert"), get("sslcert"), get("sslkey")).map(Self::Verified);
                #[cfg(not(feature = "tls"))]
                Err(OpenError::NoTls)
            }
            Some("disable") => Ok(Self::Off),
            None if PARAMETERS.iter().all(|name| get(name).is_none()) => Ok(Self::Off),
            _ => Err(OpenError::SslMode),
        }
    }

    /// Opens a session, and spawns the task that serves it until its client is dropped.
    pub(crate) async fn connect(&self, config: &Config) -> Result<Client, Error> {
        Ok(match self {
            // A Unix socket has no name to verify, and no TLS.
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
            tracing::debug!(%error, "lost a database connection");
        }
    });
    client
}

/// Returns what is wrong with a server's TLS, if that caused `error`.
pub(crate) fn problem(error: &Error) -> Option<&'static str> {
    let source = error.source()?;
    if source.to_string() == "server does not support TLS" {
        return Some("the database does not support TLS, which the connection string requires (sslmode)");
    }
    #[cfg(feature = "tls")]
    return verified::problem(source);
    #[cfg(not(feature = "tls"))]
    None
}

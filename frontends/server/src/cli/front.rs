//! How `serve` meets its clients.

use clap::{Args, ValueHint};

/// HTTPS, proxies, and what clients may take up.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "HTTPS, proxies and limits")]
pub(crate) struct FrontArguments {
    /// The certificate for HTTPS, in PEM: the chain, the server's own first. It is read again when it changes, and on SIGHUP
    ///
    /// [default: none, which is HTTP] [env: CATALOGUE_TLS_CERT]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tls_cert: Option<String>,
    /// The certificate's private key, in PEM: ECDSA, Ed25519 or RSA, without a passphrase
    ///
    /// [env: CATALOGUE_TLS_KEY]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tls_key: Option<String>,
    /// The proxies, as addresses or ranges like 10.0.0.0/8, whose Forwarded or X-Forwarded-For says who the client is
    ///
    /// [default: none] [env: CATALOGUE_TRUSTED_PROXIES]
    #[arg(long, value_name = "CIDR", num_args = 1..)]
    pub(crate) trusted_proxies: Vec<String>,
    /// How many connections there may be; where there are as many, one that is idle or slow gives way to the next
    ///
    /// [default: 15000] [env: CATALOGUE_MAX_CONNECTIONS]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) max_connections: Option<String>,
    /// How many requests may be answered at the same time; those beyond are answered with 429
    ///
    /// [default: 1000] [env: CATALOGUE_MAX_IN_FLIGHT]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) max_in_flight: Option<String>,
    /// How long a request may take, from its head to the last byte of its answer, before its connection is closed
    ///
    /// [default: 60s] [env: CATALOGUE_REQUEST_TIMEOUT]
    #[arg(long, value_name = "DURATION")]
    pub(crate) request_timeout: Option<String>,
}

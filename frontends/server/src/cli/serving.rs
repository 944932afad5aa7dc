//! The commands that serve.

use clap::Args;

use super::{FrontArguments, Offered};

/// `catalogue demo`
#[derive(Debug, Args)]
#[command(after_help = "\
Example: sample courses in memory, gone when the program ends
  catalogue demo")]
pub(crate) struct DemoArguments {
    /// The address to listen on; port 0 picks a free one
    ///
    /// [default: 127.0.0.1:8080, or a free port where that is taken] [env: CATALOGUE_LISTEN]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// Neither makes nor migrates the database that --database names
    ///
    /// [env: CATALOGUE_NO_MIGRATE]
    #[arg(long)]
    pub(crate) no_migrate: bool,
}

/// `catalogue serve`
#[derive(Debug, Default, Args)]
#[command(after_help = "\
Example: behind a proxy on this machine that speaks TLS
  catalogue serve --base-url https://api.example.com/api/v1 \\
    --docs-url https://api.example.com/docs --trusted-proxies 127.0.0.1

Example: HTTPS
  catalogue serve --listen 0.0.0.0:443 --tls-cert chain.pem --tls-key key.pem")]
pub(crate) struct ServeArguments {
    /// The address to listen on; port 0 picks a free one
    ///
    /// [default: 127.0.0.1:8080] [env: CATALOGUE_LISTEN]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// The address that answers /live, /ready and /metrics to those who operate the server; port 0 picks a free one
    ///
    /// [default: none] [env: CATALOGUE_ADMIN_LISTEN]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) admin_listen: Option<String>,
    /// Where clients find the API: a whole address, or its path alone
    ///
    /// [default: /api/v1] [env: CATALOGUE_BASE_URL]
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Where clients find the public documents
    ///
    /// [default: /docs] [env: CATALOGUE_DOCS_URL]
    #[arg(long, value_name = "URL")]
    pub(crate) docs_url: Option<String>,
    /// The kinds of credential that may read courses: api-key, oauth
    ///
    /// [default: api-key,oauth] [env: CATALOGUE_ACCEPT]
    #[arg(long, value_name = "KIND", num_args = 1..)]
    #[arg(value_parser = Offered::texts(&["api-key", "oauth"]), hide_possible_values = true)]
    pub(crate) accept: Vec<String>,
    /// The origins whose scripts may call the API, like https://app.example.com
    ///
    /// [default: none] [env: CATALOGUE_CORS_ORIGIN]
    #[arg(long, value_name = "ORIGIN", num_args = 1..)]
    pub(crate) cors_origin: Vec<String>,
    /// How long running requests may take when the server is told to end: a whole number and s, m, h or d
    ///
    /// [default: 10s] [env: CATALOGUE_SHUTDOWN_GRACE]
    #[arg(long, value_name = "DURATION")]
    pub(crate) shutdown_grace: Option<String>,
    /// How much memory rendered pages may take: a whole number of bytes, or one with KiB, MiB or GiB; 0 for none
    ///
    /// [default: 64MiB] [env: CATALOGUE_PAGE_CACHE]
    #[arg(long, value_name = "SIZE")]
    pub(crate) page_cache: Option<String>,
    /// How many connections read from a PostgreSQL database at the same time, at most
    ///
    /// [default: 10] [env: CATALOGUE_DATABASE_CONNECTIONS]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) database_connections: Option<String>,
    /// How long a read from a PostgreSQL database may take, with all that it waits for
    ///
    /// [default: 5s] [env: CATALOGUE_DATABASE_TIMEOUT]
    #[arg(long, value_name = "DURATION")]
    pub(crate) database_timeout: Option<String>,
    /// Standbys of a PostgreSQL database, each by an address of one host: requests then read from them, and answers may be as
    /// old as they are behind
    ///
    /// [default: none; requests read from the primary] [env: CATALOGUE_DATABASE_REPLICAS]
    #[arg(long, value_name = "ADDRESS", num_args = 1..)]
    pub(crate) database_replicas: Vec<String>,
    /// How far behind the primary a replica may be and still be read
    ///
    /// [default: 10s] [env: CATALOGUE_DATABASE_REPLICA_LAG]
    #[arg(long, value_name = "DURATION")]
    pub(crate) database_replica_lag: Option<String>,
    /// Waits at the start for a PostgreSQL database that is out of reach: as long as it takes, or up to that long
    ///
    /// [default: false] [env: CATALOGUE_WAIT]
    #[arg(long, value_name = "DURATION", num_args = 0..=1, default_missing_value = "true")]
    pub(crate) wait: Option<String>,
    /// How many requests each credential may make in a time, like 600/1m; as many unknown tokens may come from one address
    ///
    /// [default: no limit] [env: CATALOGUE_RATE_LIMIT]
    #[arg(long, value_name = "N/DURATION")]
    pub(crate) rate_limit: Option<String>,
    /// Where several servers count together: `redis://HOST:PORT/DATABASE`; while it is out of reach nothing is limited
    ///
    /// [default: each server counts by itself] [env: CATALOGUE_RATE_LIMIT_STORE]
    #[arg(long, value_name = "URL")]
    pub(crate) rate_limit_store: Option<String>,
    /// Where a build with OpenTelemetry sends a span of each request: a collector of OTLP over HTTP, like http://127.0.0.1:4318
    ///
    /// [default: none] [env: CATALOGUE_OTLP_ENDPOINT]
    #[arg(long, value_name = "URL")]
    pub(crate) otlp_endpoint: Option<String>,
    /// The share of requests that get a span, from 0 to 1; those that belong to a caller's trace get one as the caller says
    ///
    /// [default: 1] [env: CATALOGUE_OTLP_SAMPLE]
    #[arg(long, value_name = "RATIO")]
    pub(crate) otlp_sample: Option<String>,
    /// Neither makes a missing database nor migrates an older one
    ///
    /// [env: CATALOGUE_NO_MIGRATE]
    #[arg(long)]
    pub(crate) no_migrate: bool,
    #[command(flatten)]
    pub(crate) front: FrontArguments,
}

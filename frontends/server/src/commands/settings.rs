//! [`CatalogueSettings`]: what a catalogue can be told, and saying which setting is wrong.

use std::num::NonZeroUsize;
use std::time::Duration;

use catalogue_core::{BuildError, Catalogue, CatalogueBuilder, CredentialKind};

use crate::cli::ServeArguments;
use crate::config::{Layers, Setting, Sourced};
use crate::database::Database;
use crate::exit::Failure;
use crate::rate_limit::RateLimiting;
use crate::{duration, size};

/// How much memory rendered pages may take unless `--page-cache` says otherwise.
const DEFAULT_PAGE_CACHE: usize = 64 << 20;
/// As many connections as fit beside those of clients into the files that a process may have open.
const MAX_CONNECTIONS: usize = 1_000;
/// A longer time could as well be none.
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// What a catalogue can be told; `None` leaves it its default.
#[derive(Debug, Default)]
pub(super) struct CatalogueSettings {
    pub(super) base_url: Option<Sourced<String>>,
    pub(super) docs_url: Option<Sourced<String>>,
    pub(super) accept: Option<Sourced<Vec<CredentialKind>>>,
    pub(super) origins: Option<Sourced<Vec<String>>>,
    /// In bytes; 0 for none.
    pub(super) page_cache: usize,
    /// Requests at the same time.
    pub(super) max_in_flight: Option<usize>,
    pub(super) rate_limiting: RateLimiting,
}

impl CatalogueSettings {
    /// The catalogue of `builder`'s storage with these settings.
    pub(super) fn catalogue(&self, mut builder: CatalogueBuilder) -> Result<Catalogue, Failure> {
        if let Some(base_url) = &self.base_url {
            builder = builder.base_url(&base_url.value);
        }
        if let Some(docs_url) = &self.docs_url {
            builder = builder.docs_url(&docs_url.value);
        }
        if let Some(accept) = &self.accept {
            builder = builder.accept(accept.value.iter().copied());
        }
        if let Some(origins) = &self.origins {
            builder = builder.cors_origins(&origins.value);
        }
        if let Some(requests) = self.max_in_flight {
            builder = builder.max_in_flight(requests);
        }
        if let Some(limiter) = self.rate_limiting.limiter() {
            builder = builder.rate_limiter(limiter);
        }
        builder.page_cache(self.page_cache).build().map_err(|error| self.wrong(&error))
    }

    /// Where clients find the API.
    pub(super) fn base_url(&self) -> &str {
        self.base_url.as_ref().map_or("/api/v1", |setting| &setting.value)
    }

    /// Where clients find the public documents.
    pub(super) fn docs_url(&self) -> &str {
        self.docs_url.as_ref().map_or("/docs", |setting| &setting.value)
    }

    /// Says what is wrong, and where the settings that it is about come from.
    fn wrong(&self, error: &BuildError) -> Failure {
        let (base_url, docs_url) = (source(&self.base_url), source(&self.docs_url));
        let sources: Vec<&str> = match error {
            BuildError::BaseUrl(_) => base_url.collect(),
            BuildError::DocsUrl(_) => docs_url.collect(),
            BuildError::SamePath(_) | BuildError::Collision { .. } => base_url.chain(docs_url).collect(),
            BuildError::NothingAccepted => source(&self.accept).collect(),
            BuildError::Origin(_) => source(&self.origins).collect(),
            _ => Vec::new(),
        };
        Sourced { value: (), source: sources.join(" and ") }.wrong(error)
    }
}

/// Where a setting comes from, if anybody has given it.
fn source<T>(setting: &Option<Sourced<T>>) -> impl Iterator<Item = &str> {
    setting.iter().map(|setting| &*setting.source)
}

/// The size of the page cache in bytes.
pub(super) fn page_cache(layers: &Layers, given: Option<String>) -> Result<usize, Failure> {
    let size = layers.text(Setting::PageCache, given)?.map(|size| size.parse(|text| size::parse(text)));
    Ok(size.transpose()?.unwrap_or(DEFAULT_PAGE_CACHE))
}

/// The kinds of credential that the layers accept, if they say so.
pub(super) fn accepted_kinds(
    layers: &Layers,
    given: Vec<String>,
) -> Result<Option<Sourced<Vec<CredentialKind>>>, Failure> {
    let Some(names) = layers.list(Setting::Accept, given)? else {
        return Ok(None);
    };
    let source = names.source.clone();
    let value = names.parse(|names| names.iter().map(|name| kind(name)).collect::<Result<_, _>>())?;
    Ok(Some(Sourced { value, source }))
}

fn kind(name: &str) -> Result<CredentialKind, String> {
    let found = CredentialKind::from_name(name);
    found.ok_or_else(|| {
        let known: Vec<_> = CredentialKind::ALL.iter().map(|kind| kind.name()).collect();
        let known = known.join(", ");
        format!("{name:?} is not a kind of credential; the kinds are {known}")
    })
}

/// The database with what only a server is told about a PostgreSQL one.
pub(super) fn tuned(database: Database, layers: &Layers, arguments: &ServeArguments) -> Result<Database, Failure> {
    let connections = layers.text(Setting::DatabaseConnections, arguments.database_connections.clone())?;
    let connections = connections.map(|text| text.parse(|text| connection_count(text))).transpose()?;
    let timeout = layers.text(Setting::DatabaseTimeout, arguments.database_timeout.clone())?;
    let timeout = timeout.map(|text| text.parse(|text| read_timeout(text))).transpose()?;
    let replicas = layers.list(Setting::DatabaseReplicas, arguments.database_replicas.clone())?;
    let database = match replicas {
        Some(addresses) => addresses.parse(|addresses| database.with_replicas(addresses))?,
        None => database,
    };
    let lag = layers.text(Setting::DatabaseReplicaLag, arguments.database_replica_lag.clone())?;
    let lag = lag.map(|text| text.parse(|text| replica_lag(text))).transpose()?;
    Ok(database.with(|mut options| {
        if let Some(lag) = lag {
            options = options.greatest_lag(lag);
        }
        if let Some(connections) = connections {
            options = options.connections(connections);
        }
        if let Some(timeout) = timeout {
            options = options.deadline(timeout);
        }
        options
    }))
}

fn connection_count(text: &str) -> Result<NonZeroUsize, String> {
    let count = text.parse().ok().filter(|count: &NonZeroUsize| count.get() <= MAX_CONNECTIONS);
    count.ok_or_else(|| format!("{text:?} is not a number of connections; write one from 1 to {MAX_CONNECTIONS}"))
}

fn replica_lag(text: &str) -> Result<Duration, String> {
    let lag = duration::parse(text)?;
    if lag.is_zero() || lag > MAX_TIMEOUT {
        return Err(format!("{text:?} is no bound for a replica; write a duration from 1s to 1d"));
    }
    Ok(lag)
}

fn read_timeout(text: &str) -> Result<Duration, String> {
    let timeout = duration::parse(text)?;
    if timeout.is_zero() || timeout > MAX_TIMEOUT {
        return Err(format!("{text:?} is no time to read in; write a duration from 1s to 1d"));
    }
    Ok(timeout)
}

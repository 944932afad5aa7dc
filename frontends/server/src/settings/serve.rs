//! [`ServeSettings`]: options of `serve`, and [`AboutSettings`]: options that describe the API in its documents.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use catalogue_core::auth::CredentialKind;
use catalogue_core::{Catalogue, CatalogueBuilder};
use catalogue_hyper::{CertificateFiles, Limits, ServerConfig, Timeouts, Tls};

use super::table::*;
use super::{DeveloperOptions, Settings, value};
use crate::database::{Database, Migration, PostgresOptions};
use crate::exit::{Failure, chain};
#[cfg(feature = "oauth")]
use crate::issuer::{self, IssuerOptions};
use crate::otlp::Endpoint;
use crate::rate_limit::{self, RateLimiting};

/// Minimum of [`Limits::outstanding_streams`], however few connections are allowed: about thirty clients with 32 requests each.
const MIN_OUTSTANDING_STREAMS: u32 = 1_000;

/// Options of `serve`.
#[derive(Debug)]
pub(crate) struct ServeSettings {
    pub(crate) database: Database,
    pub(crate) migration: Migration,
    pub(crate) wait: Option<Duration>,
    pub(crate) listen: SocketAddr,
    pub(crate) admin_listen: Option<SocketAddr>,
    pub(crate) api: ApiSettings,
    /// Collector of spans, and the share of requests that are sampled.
    pub(crate) spans: Option<(Endpoint, f64)>,
    /// Configuration of the HTTP server, without the certificate.
    pub(crate) server: ServerConfig,
    pub(crate) developer: Option<DeveloperOptions>,
    tls: Option<CertificateFiles>,
}

/// Options of a catalogue.
#[derive(Debug)]
pub(crate) struct ApiSettings {
    pub(crate) base_url: String,
    pub(crate) docs_url: String,
    about: AboutSettings,
    accept: Vec<CredentialKind>,
    origins: Vec<String>,
    /// Maximum size of the response cache in bytes; 0 disables it.
    pub(crate) page_cache: usize,
    /// Maximum number of concurrent requests.
    max_in_flight: u32,
    pub(crate) rate_limiting: RateLimiting,
    #[cfg(feature = "oauth")]
    pub(crate) issuer: Option<IssuerOptions>,
}

impl ServeSettings {
    /// Reads all options.
    pub(crate) fn read(settings: &Settings) -> Self {
        let (base_url, docs_url) = mount_urls(settings);
        let api = ApiSettings {
            #[cfg(feature = "oauth")]
            issuer: IssuerOptions::read(settings, &base_url),
            base_url,
            docs_url,
            about: AboutSettings::read(settings),
            accept: settings.get(&ACCEPT),
            origins: settings.given(&CORS_ORIGIN).unwrap_or_default(),
            page_cache: settings.get(&PAGE_CACHE),
            max_in_flight: settings.get(&MAX_IN_FLIGHT),
            rate_limiting: rate_limiting(settings),
        };
        let developer = DeveloperOptions::read(settings, &api.base_url, &api.docs_url, &api.origins);
        Self {
            database: database(settings),
            migration: settings.migration(),
            wait: settings.get(&WAIT),
            listen: settings.get(&LISTEN),
            admin_listen: settings.given(&ADMIN_LISTEN),
            api,
            spans: span_export(settings),
            server: server(settings),
            developer,
            tls: tls_files(settings),
        }
    }

    /// Refuses equal addresses for both listeners, because the second could not be bound. Allows them for port 0
    /// and for an `inherited` listener. Also refuses sessions that would travel in cleartext.
    pub(crate) fn check_listeners(&self, settings: &Settings, inherited: Option<SocketAddr>) {
        if let Some(developer) = &self.developer {
            let (listen, secured) = (inherited.unwrap_or(self.listen), self.tls.is_some());
            developer.check_listener(settings, listen, secured, &self.server.trusted_proxies);
        }
        if inherited.is_some() || self.admin_listen != Some(self.listen) || self.listen.port() == 0 {
            return;
        }
        let default = if settings.is_given(&LISTEN) { "" } else { ", the default of --listen," };
        let what = format!("{}{default} cannot serve both clients and operators; use another port", self.listen);
        settings.conflict(&[&LISTEN, &ADMIN_LISTEN], &what);
    }

    /// Loads the certificate, if there is one, so that problems are reported before the first client connects.
    pub(crate) fn tls(&self) -> Result<Option<Arc<Tls>>, String> {
        let tls = self.tls.clone().map(|files| Tls::load(files).map_err(|error| chain(&error)));
        Ok(tls.transpose()?.map(Arc::new))
    }
}

impl ApiSettings {
    /// Builds the catalogue over `builder`'s storage with these options.
    pub(crate) fn catalogue(&self, builder: CatalogueBuilder) -> Result<Catalogue, Failure> {
        let builder = self.about.apply_to(builder);
        let mut builder = builder
            .serve_root()
            .base_url(&self.base_url)
            .docs_url(&self.docs_url)
            .accept(self.accept.iter().copied())
            .cors_origins(&self.origins)
            .max_in_flight(self.max_in_flight as usize)
            .page_cache(self.page_cache);
        if let Some(limiter) = &self.rate_limiting.limiter {
            builder = builder.rate_limiter(Arc::clone(limiter));
        }
        builder.build().map_err(Failure::from)
    }
}

/// Options that describe the API in its documents, each with the builder's method that applies it.
#[derive(Debug)]
pub(crate) struct AboutSettings(Vec<(String, ApplySetting)>);

type ApplySetting = fn(CatalogueBuilder, &str) -> CatalogueBuilder;

impl AboutSettings {
    pub(crate) fn read(settings: &Settings) -> Self {
        let settings_url = settings.given(&SETTINGS_URL).map(|url| url.as_str().to_owned());
        // The documents name the issuer only if the base URL is absolute, because the API's metadata contain it (decision
        // O33). In addition, clients must be able to find the issuer's metadata by its URL.
        #[cfg(feature = "oauth")]
        let issuer = settings
            .given(&OAUTH_ISSUER)
            .filter(|issuer| !settings.get(&BASE_URL).starts_with('/') && issuer::discoverable(issuer).is_ok());
        let about: [(Option<String>, ApplySetting); _] = [
            (settings.given(&DOCS_TITLE), |builder, title| builder.docs_title(title)),
            (settings.given(&DOCS_CONTACT), |builder, contact| builder.docs_contact(contact)),
            (settings.given(&DOCS_KEYS_URL), |builder, url| builder.docs_keys_url(url)),
            (settings_url, |builder, url| builder.settings_url(url)),
            #[cfg(feature = "oauth")]
            (issuer, |builder, issuer| builder.authorization_server(issuer)),
        ];
        Self(about.into_iter().filter_map(|(given, apply)| Some((given?, apply))).collect())
    }

    pub(crate) fn apply_to(&self, builder: CatalogueBuilder) -> CatalogueBuilder {
        self.0.iter().fold(builder, |builder, (given, apply)| apply(builder, given))
    }
}

/// Returns the URLs of the API and of its documents.
pub(crate) fn mount_urls(settings: &Settings) -> (String, String) {
    let (base_url, docs_url) = (settings.get(&BASE_URL), settings.get(&DOCS_URL));
    if let Err(error) = value::buildable(|builder| builder.base_url(&base_url).docs_url(&docs_url)) {
        settings.conflict(&[&BASE_URL, &DOCS_URL], &error);
    }
    (base_url, docs_url)
}

/// Returns the database with the PostgreSQL options that only a server has.
fn database(settings: &Settings) -> Database {
    let connections = settings.get(&DATABASE_CONNECTIONS);
    let timeout = settings.get(&DATABASE_TIMEOUT);
    let lag = settings.get(&DATABASE_REPLICA_LAG);
    let apply = |options: PostgresOptions| options.connections(connections).deadline(timeout).max_replica_lag(lag);
    let database = settings.database().with(apply);
    let replicas = settings.given(&DATABASE_REPLICAS).unwrap_or_default();
    database.with_replicas(&replicas).unwrap_or_else(|error| {
        settings.conflict(&[&DATABASE_REPLICAS], &error);
        DATABASE.default_value()
    })
}

fn rate_limiting(settings: &Settings) -> RateLimiting {
    let store = settings.given(&RATE_LIMIT_STORE);
    if let Some(limit) = settings.given(&RATE_LIMIT) {
        return RateLimiting::new(limit, settings.text(&RATE_LIMIT).unwrap_or_default(), store);
    }
    if store.is_some() {
        let unused = format!("no effect without --rate-limit; {}", rate_limit::HINT);
        settings.conflict(&[&RATE_LIMIT_STORE], &unused);
    }
    RateLimiting::default()
}

fn span_export(settings: &Settings) -> Option<(Endpoint, f64)> {
    let endpoint = settings.given(&OTLP_ENDPOINT);
    if endpoint.is_none() && settings.is_given(&OTLP_SAMPLE) {
        let unused = "no effect without a collector; set one, like --otlp-endpoint http://127.0.0.1:4318";
        settings.conflict(&[&OTLP_SAMPLE], &unused);
    }
    let ratio = settings.get(&OTLP_SAMPLE);
    endpoint.map(|endpoint| (endpoint, ratio))
}

fn server(settings: &Settings) -> ServerConfig {
    let connections = settings.get(&MAX_CONNECTIONS);
    let outstanding_streams = connections.max(MIN_OUTSTANDING_STREAMS);
    let (request, grace) = (settings.get(&REQUEST_TIMEOUT), settings.get(&SHUTDOWN_GRACE));
    ServerConfig {
        timeouts: Timeouts { request, grace, ..Timeouts::default() },
        limits: Limits { connections, outstanding_streams, ..Limits::default() },
        trusted_proxies: settings.given(&TRUSTED_PROXIES).unwrap_or_default(),
        ..ServerConfig::default()
    }
}

/// Returns the certificate and its key, which must be given together.
fn tls_files(settings: &Settings) -> Option<CertificateFiles> {
    let missing_pair = match (settings.given(&TLS_CERT), settings.given(&TLS_KEY)) {
        (None, None) => return None,
        (Some(certificate), Some(key)) => return Some(CertificateFiles { certificate, key }),
        (Some(_), None) => "a certificate needs its key; set --tls-key",
        (None, Some(_)) => "a key needs its certificate; set --tls-cert",
    };
    settings.conflict(&[&TLS_CERT, &TLS_KEY], &missing_pair);
    None
}

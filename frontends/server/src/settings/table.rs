//! The table of all settings, in the order of the help of `serve`. Command line, environment, configuration file, help,
//! manual pages, completions, `config check` and `config example` follow from it.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use catalogue_core::MountUrl;
use catalogue_core::auth::CredentialKind;
#[cfg(feature = "oauth")]
use catalogue_core::auth::signed::{SignatureAlgorithm, TokenType};
use catalogue_core::limit::RateLimit;
use catalogue_hyper::Networks;
#[cfg(feature = "oauth")]
use catalogue_issuer::{IssuerUrl, KeySource};
use http::{HeaderName, HeaderValue};
use tracing_subscriber::EnvFilter;

use super::Fallback::{Value, Words};
use super::setting::Parse::{Many, One};
use super::{Entry, Section, Setting, Shape, developer, value};
use crate::database::{self, Database};
#[cfg(feature = "oauth")]
use crate::issuer;
use crate::logging::{self, Format, LEVELS};
use crate::otlp::{self, Endpoint};
use crate::rate_limit::{self, StoreAddress};
use crate::units;

macro_rules! table {
    ($($(#[$only:meta])? $name:ident: $value:ty = $entry:expr $(, $field:ident: $setting_value:expr)*;)*) => {
        $($(#[$only])? pub(crate) static $name: Entry<$value> = {
            let mut entry = $entry;
            $(entry.setting.$field = $setting_value;)*
            entry
        };)*

        static ALL: &[&Setting] = &[$($(#[$only])? &$name.setting),*];

        #[cfg(test)]
        fn read_all_defaults() {
            $($(#[$only])? tests::read_default(&$name);)*
        }
    };
}

table! {
    LISTEN: SocketAddr = Entry::new("listen", "ADDRESS", One(value::listen_address)),
        help: "Address to listen on; a bare port listens on 127.0.0.1 only, port 0 picks a free port, and 0.0.0.0 or [::] means all interfaces",
        default: Value("127.0.0.1:8080");
    ADMIN_LISTEN: SocketAddr = Entry::new("admin-listen", "ADDRESS", One(value::listen_address)),
        help: "Address that serves /live, /ready and /metrics to operators; port 0 picks a free port",
        default: Words("none");
    BASE_URL: String = Entry::new("base-url", "URL", One(value::url)),
        help: "Public base URL of the API, or only its path",
        default: Value("/api/v1");
    DOCS_URL: String = Entry::new("docs-url", "URL", One(value::url)),
        help: "Public URL of the API documents, or only its path",
        default: Value("/docs");
    DOCS_TITLE: String = Entry::new("docs-title", "TEXT", One(|text| value::accepted_by_builder(text, |api| api.docs_title(text)))),
        help: "Title of the API documents",
        default: Words("Course Catalogue Read API");
    DOCS_CONTACT: String = Entry::new("docs-contact", "URL|MAILBOX", One(|text| value::accepted_by_builder(text, |api| api.docs_contact(text)))),
        help: "Support contact in the API documents, like help@example.com or https://example.com/help",
        default: Words("none");
    DOCS_KEYS_URL: String = Entry::new("docs-keys-url", "URL", One(|text| value::accepted_by_builder(text, |api| api.docs_keys_url(text)))),
        help: "URL of the page where account owners create API keys, or only its path",
        default: Words("none");
    SETTINGS_URL: MountUrl = Entry::new("settings-url", "URL", One(developer::url)),
        help: "URL at which to serve the developer settings, where account owners manage keys; a bare path works only on this machine or with HTTPS",
        default: Words("none");
    ACCEPT: Vec<CredentialKind> = Entry::new("accept", "KIND", Many(|texts| value::some_of(texts, &CredentialKind::ALL.iter().map(|kind| (kind.name(), *kind)).collect::<Vec<_>>()))),
        help: "Kinds of credentials that may read courses: api-key, oauth",
        default: Value("api-key,oauth"), possible_values: &["api-key", "oauth"];
    #[cfg(feature = "oauth")]
    OAUTH_ISSUER: String = Entry::new("oauth-issuer", "URL", One(issuer::issuer)),
        help: "Issuer (iss) of accepted signed access tokens: an HTTPS URL with metadata that contain the URL of its keys; with --oauth-keys, any text",
        default: Words("none");
    #[cfg(feature = "oauth")]
    OAUTH_AUDIENCE: String = Entry::new("oauth-audience", "TEXT", One(issuer::not_empty)),
        help: "Required audience of tokens (aud)",
        default: Words("the URL of --base-url");
    #[cfg(feature = "oauth")]
    OAUTH_KEYS: KeySource = Entry::new("oauth-keys", "URL|file:PATH", One(issuer::key_source)),
        help: "URL or file of the issuer's key set",
        default: Words("from the issuer's metadata");
    #[cfg(feature = "oauth")]
    OAUTH_ALGORITHMS: Vec<SignatureAlgorithm> = Entry::new("oauth-algorithms", "NAME", Many(|texts| value::some_of(texts, &SignatureAlgorithm::ALL.iter().map(|known| (known.name(), *known)).collect::<Vec<_>>()))),
        help: "Accepted signature algorithms of tokens",
        default: Value("ES256,ES384,EdDSA,PS256,RS256"), possible_values: &["ES256", "ES384", "EdDSA", "PS256", "RS256"];
    #[cfg(feature = "oauth")]
    OAUTH_ACCOUNT_CLAIM: String = Entry::new("oauth-account-claim", "NAME", One(issuer::not_empty)),
        help: "Claim that contains the account id",
        default: Value("sub");
    #[cfg(feature = "oauth")]
    OAUTH_SCOPE_PREFIX: String = Entry::new("oauth-scope-prefix", "TEXT", One(issuer::not_empty)),
        help: "Prefix that the issuer adds to scopes, like catalogue:; scopes without it are ignored",
        default: Words("none");
    #[cfg(feature = "oauth")]
    OAUTH_TOKEN_TYPE: TokenType = Entry::new("oauth-token-type", "TYPE", One(|text| value::one_of(text, &[("at+jwt", TokenType::AccessToken), ("any", TokenType::Any)]))),
        help: "Required typ header of tokens: at+jwt, or any for issuers that set JWT",
        default: Value("at+jwt"), possible_values: &["at+jwt", "any"];
    #[cfg(feature = "oauth")]
    OAUTH_INTROSPECTION: IssuerUrl = Entry::new("oauth-introspection", "URL", One(issuer::url)),
        help: "Introspection endpoint for the issuer's opaque access tokens (RFC 7662), over HTTPS, or over HTTP on this machine",
        default: Words("none (opaque tokens are refused)");
    #[cfg(feature = "oauth")]
    OAUTH_CLIENT_ID: String = Entry::new("oauth-client-id", "ID", One(issuer::not_empty)),
        help: "Client id of this server for token introspection";
    #[cfg(feature = "oauth")]
    OAUTH_CLIENT_SECRET: String = Entry::new("oauth-client-secret", "file:PATH", One(issuer::not_empty)),
        help: "File with the secret for --oauth-client-id, sent by client_secret_basic",
        default: Words("none"), shape: Shape::Secret, is_secret: true;
    #[cfg(feature = "oauth")]
    OAUTH_INTROSPECTION_CACHE: Duration = Entry::new("oauth-introspection-cache", "DURATION", One(|text| units::between(text, ["0s", "60s"]))),
        help: "Time to cache accepted opaque tokens, like 10s, at most 60s; it delays revocations at the issuer",
        default: Value("0s");
    CORS_ORIGIN: Vec<String> = Entry::new("cors-origin", "ORIGIN", Many(|texts| value::buildable(|api| api.cors_origins(texts)).map(|()| texts.to_vec()))),
        help: "Origins whose scripts may call the API, like https://app.example.com",
        default: Words("none");
    SHUTDOWN_GRACE: Duration = Entry::new("shutdown-grace", "DURATION", One(|text| units::between(text, ["0s", "1d"]))),
        help: "Grace period for running requests at shutdown, like 30s or 1m30s",
        default: Value("10s");
    PAGE_CACHE: usize = Entry::new("page-cache", "SIZE", One(units::size)),
        help: "Maximum size of the response cache, in bytes or with KiB, MiB or GiB; 0 disables it",
        default: Value("64MiB"), shape: Shape::Size;
    DATABASE_CONNECTIONS: NonZeroUsize = Entry::new("database-connections", "NUMBER", One(|text| value::count(text, value::MAX_DATABASE_CONNECTIONS))),
        help: "Maximum number of connections that read from a PostgreSQL database",
        default: Value("10"), shape: Shape::Size;
    DATABASE_TIMEOUT: Duration = Entry::new("database-timeout", "DURATION", One(|text| units::between(text, ["1s", "1d"]))),
        help: "Timeout for a read from a PostgreSQL database, including all waiting",
        default: Value("2s");
    DATABASE_REPLICAS: Vec<String> = Entry::new("database-replicas", "ADDRESS", Many(database::parse_replicas)),
        help: "URLs of PostgreSQL replicas to read from; responses may be as old as their lag",
        default: Words("none"), note: "; requests read from the primary", is_secret: true;
    DATABASE_REPLICA_LAG: Duration = Entry::new("database-replica-lag", "DURATION", One(|text| units::between(text, ["1s", "1d"]))),
        help: "Maximum replica lag; replicas with more or unknown lag are not used",
        default: Value("10s");
    WAIT: Option<Duration> = Entry::new("wait", "DURATION", One(value::wait)),
        help: "Wait for an unreachable PostgreSQL database at startup, forever or up to DURATION",
        default: Value("false"), shape: Shape::Choice;
    RATE_LIMIT: RateLimit = Entry::new("rate-limit", "N/DURATION", One(rate_limit::parse)),
        help: "Maximum number of requests of each credential, like 600/1m; also limits unknown tokens per client address",
        default: Words("no limit");
    RATE_LIMIT_STORE: StoreAddress = Entry::new("rate-limit-store", "URL", One(rate_limit::store_address)),
        help: "Redis URL for a rate limit that several servers share: `redis://HOST:PORT/DATABASE`; while Redis is unreachable, nothing is limited",
        default: Words("each server counts separately"), is_secret: true;
    OTLP_ENDPOINT: Endpoint = Entry::new("otlp-endpoint", "URL", One(otlp::parse_endpoint)),
        help: "URL of the collector that receives request spans by OTLP over HTTP, like http://127.0.0.1:4318; needs a build with OpenTelemetry",
        default: Words("none");
    OTLP_SAMPLE: f64 = Entry::new("otlp-sample", "RATIO", One(otlp::ratio)),
        help: "Sampling ratio from 0 to 1; requests with a traceparent follow its sampling flag",
        default: Value("1");
    NO_MIGRATE: bool = Entry::new("no-migrate", "", One(value::flag)),
        help: "Do not create or migrate the database",
        default: Value("false"), shape: Shape::Flag;
    TLS_CERT: PathBuf = Entry::new("tls-cert", "FILE", One(|text| Ok(text.into()))),
        help: "Certificate chain for HTTPS, in PEM, the server's own first; reloaded when it changes and on SIGHUP",
        default: Words("none (plain HTTP)"), shape: Shape::Path, section: Section::Clients;
    TLS_KEY: PathBuf = Entry::new("tls-key", "FILE", One(|text| Ok(text.into()))),
        help: "Private key of the certificate, in PEM: ECDSA, Ed25519 or RSA, without a passphrase",
        shape: Shape::Path, section: Section::Clients;
    TRUSTED_PROXIES: Networks = Entry::new("trusted-proxies", "CIDR", Many(Networks::parse)),
        help: "Proxies whose X-Forwarded-For is trusted, as IP addresses or ranges like 10.0.0.0/8",
        default: Words("none"), section: Section::Clients;
    SETTINGS_OWNER_HEADER: HeaderName = Entry::new("settings-owner-header", "NAME", One(developer::owner_header_name)),
        help: "Header in which an authenticating proxy passes the account id of an owner, like Remote-User; the proxy must strip it from client requests",
        default: Words("none; owners sign in by links"), section: Section::Clients;
    SETTINGS_OWNER_SECRET: HeaderValue = Entry::new("settings-owner-secret", "file:PATH", One(developer::owner_secret)),
        help: "File with the secret that the authenticating proxy sends in Catalogue-Proxy-Secret, at least 32 characters; without it, --trusted-proxies are trusted",
        default: Words("none"), shape: Shape::Secret, section: Section::Clients, is_secret: true;
    MAX_CONNECTIONS: u32 = Entry::new("max-connections", "NUMBER", One(|text| value::count(text, value::MAX_COUNT))),
        help: "Maximum number of open connections; at the limit, a new one closes an idle or slow one",
        default: Value("15000"), shape: Shape::Size, section: Section::Clients;
    // More than a storage processes concurrently by default, and few enough that waiting requests finish within its timeouts.
    MAX_IN_FLIGHT: u32 = Entry::new("max-in-flight", "NUMBER", One(|text| value::count(text, value::MAX_COUNT))),
        help: "Maximum number of concurrent requests; further ones get a 429",
        default: Value("1000"), shape: Shape::Size, section: Section::Clients;
    REQUEST_TIMEOUT: Duration = Entry::new("request-timeout", "DURATION", One(|text| units::lifetime(text).map(|time| time.min(value::DAY)))),
        help: "Timeout from a request's head to the last byte of its response; the connection is also closed after 30s without progress",
        default: Value("60s"), section: Section::Clients;
    DATABASE: Database = Entry::new("database", "ADDRESS", One(Database::parse)),
        help: "Database: sqlite:PATH, postgres://USER@HOST/NAME, or sqlite::memory:, which is discarded at exit",
        default: Value("sqlite:catalogue.db"), note: "; for `demo` sqlite::memory:",
        section: Section::Every, is_secret: true;
    DATABASE_POOLER: bool = Entry::new("database-pooler", "", One(value::flag)),
        help: "Connect to PostgreSQL through a pooler in transaction mode, such as PgBouncer",
        default: Value("false"), shape: Shape::Flag, section: Section::Every;
    DATABASE_SCHEMA: String = Entry::new("database-schema", "NAME", One(|text| Ok(text.to_owned()))),
        help: "PostgreSQL schema of the catalogue's own tables",
        default: Words("catalogue for views, else from search_path"), section: Section::Every;
    VIEWS: bool = Entry::new("courses", "KIND", One(|text| value::one_of(text, &[("tables", false), ("views", true)]))),
        help: "Source of courses: the catalogue's own tables, or views over the tables of another program",
        default: Value("tables"), section: Section::Every, possible_values: &["tables", "views"];
    COURSES_SCHEMA: String = Entry::new("courses-schema", "NAME", One(|text| Ok(text.to_owned()))),
        help: "PostgreSQL schema of the views",
        default: Value("public"), section: Section::Every;
    COURSES_DATABASE: PathBuf = Entry::new("courses-database", "sqlite:PATH", One(value::sqlite_file)),
        help: "SQLite database with the views, opened read-only; --database has the keys",
        default: Words("none"), section: Section::Every;
    LOG: EnvFilter = Entry::new("log", "LEVEL", One(logging::parse_filter)),
        help: "Level or filter of the log on standard error, in tracing's syntax. A bare level applies to catalogue; dependencies log only errors unless named, as in debug,h2=debug; to omit requests, use info,catalogue::access=off",
        default: Value("info"), section: Section::Every, possible_values: &LEVELS;
    LOG_FORMAT: Format = Entry::new("log-format", "FORMAT", One(|text| value::one_of(text, &[("text", Format::Text), ("json", Format::Json)]))),
        help: "Log format: text, or json with one object a line",
        default: Value("text"), section: Section::Every, possible_values: &["text", "json"];
}

/// Returns every setting.
pub(crate) fn all() -> impl Iterator<Item = &'static Setting> {
    ALL.iter().copied()
}

/// Returns the setting called `name`.
pub(super) fn named(name: &str) -> Option<&'static Setting> {
    all().find(|setting| setting.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalogue_hyper::{Limits, Timeouts};

    #[test]
    fn defaults_equal_server_limits() {
        let Timeouts { request, grace, .. } = Timeouts::default();
        assert_eq!(Limits::default().connections, MAX_CONNECTIONS.default_value());
        let times = [REQUEST_TIMEOUT.default_value(), SHUTDOWN_GRACE.default_value()];
        assert_eq!([request, grace], times);
    }

    pub(super) fn read_default<T>(entry: &Entry<T>) {
        if let Value(_) = entry.default {
            entry.default_value();
        }
    }

    #[test]
    fn all_defaults_are_valid() {
        read_all_defaults();
    }

    #[test]
    fn setting_names_are_unique_and_documented() {
        let names: std::collections::BTreeSet<_> = all().map(|setting| setting.name).collect();
        assert_eq!(names.len(), all().count());
        assert!(all().all(|setting| !setting.help.is_empty()));
    }
}

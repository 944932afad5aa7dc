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
        help: "The address to listen on; a port alone is on this machine only, 0.0.0.0 and [::] are all its addresses, port 0 picks a free one",
        default: Value("127.0.0.1:8080");
    ADMIN_LISTEN: SocketAddr = Entry::new("admin-listen", "ADDRESS", One(value::listen_address)),
        help: "The address that answers /live, /ready and /metrics to those who operate the server; port 0 picks a free one",
        default: Words("none");
    BASE_URL: String = Entry::new("base-url", "URL", One(value::url)),
        help: "Where clients find the API: a whole address, or its path alone",
        default: Value("/api/v1");
    DOCS_URL: String = Entry::new("docs-url", "URL", One(value::url)),
        help: "Where clients find the public documents",
        default: Value("/docs");
    DOCS_TITLE: String = Entry::new("docs-title", "TEXT", One(|text| value::accepted_by_builder(text, |api| api.docs_title(text)))),
        help: "What the documents are headed",
        default: Words("Course Catalogue Read API");
    DOCS_CONTACT: String = Entry::new("docs-contact", "URL|MAILBOX", One(|text| value::accepted_by_builder(text, |api| api.docs_contact(text)))),
        help: "Where callers' questions go, like help@example.com or https://example.com/help",
        default: Words("none");
    DOCS_KEYS_URL: String = Entry::new("docs-keys-url", "URL", One(|text| value::accepted_by_builder(text, |api| api.docs_keys_url(text)))),
        help: "The page where the owners of accounts make API keys: a whole address, or its path alone",
        default: Words("none");
    SETTINGS_URL: MountUrl = Entry::new("settings-url", "URL", One(developer::url)),
        help: "Mounts the developer settings, where the owners of accounts make keys: at a whole address, or its path alone on this machine or with HTTPS",
        default: Words("none");
    ACCEPT: Vec<CredentialKind> = Entry::new("accept", "KIND", Many(|texts| value::some_of(texts, "kind of credential", &CredentialKind::ALL.iter().map(|kind| (kind.name(), *kind)).collect::<Vec<_>>()))),
        help: "The kinds of credential that may read courses: api-key, oauth",
        default: Value("api-key,oauth"), possible_values: &["api-key", "oauth"];
    #[cfg(feature = "oauth")]
    OAUTH_ISSUER: String = Entry::new("oauth-issuer", "URL", One(issuer::issuer)),
        help: "The authorization server whose signed access tokens are taken, as tokens name it in iss: its HTTPS address, where its metadata say where its keys are, or any text with --oauth-keys",
        default: Words("none");
    #[cfg(feature = "oauth")]
    OAUTH_AUDIENCE: String = Entry::new("oauth-audience", "TEXT", One(issuer::not_empty)),
        help: "What tokens must name in aud",
        default: Words("the address of --base-url");
    #[cfg(feature = "oauth")]
    OAUTH_KEYS: KeySource = Entry::new("oauth-keys", "URL|file:PATH", One(issuer::key_source)),
        help: "Where the issuer's key set is, or a file with it",
        default: Words("where the issuer's metadata say");
    #[cfg(feature = "oauth")]
    OAUTH_ALGORITHMS: Vec<SignatureAlgorithm> = Entry::new("oauth-algorithms", "NAME", Many(|texts| value::some_of(texts, "supported algorithm", &SignatureAlgorithm::ALL.iter().map(|known| (known.name(), *known)).collect::<Vec<_>>()))),
        help: "The algorithms by which tokens may be signed",
        default: Value("ES256,ES384,EdDSA,PS256,RS256"), possible_values: &["ES256", "ES384", "EdDSA", "PS256", "RS256"];
    #[cfg(feature = "oauth")]
    OAUTH_ACCOUNT_CLAIM: String = Entry::new("oauth-account-claim", "NAME", One(issuer::not_empty)),
        help: "The claim that has the account's id",
        default: Value("sub");
    #[cfg(feature = "oauth")]
    OAUTH_SCOPE_PREFIX: String = Entry::new("oauth-scope-prefix", "TEXT", One(issuer::not_empty)),
        help: "What the issuer puts before the names of scopes, like catalogue:; scopes without it do not count",
        default: Words("none");
    #[cfg(feature = "oauth")]
    OAUTH_TOKEN_TYPE: TokenType = Entry::new("oauth-token-type", "TYPE", One(|text| value::one_of(text, "type of token", &[("at+jwt", TokenType::AccessToken), ("any", TokenType::Any)]))),
        help: "What the header of a token must call it: at+jwt, or any for issuers that call access tokens JWT",
        default: Value("at+jwt"), possible_values: &["at+jwt", "any"];
    #[cfg(feature = "oauth")]
    OAUTH_INTROSPECTION: IssuerUrl = Entry::new("oauth-introspection", "URL", One(issuer::url)),
        help: "Where the issuer is asked about its opaque access tokens (RFC 7662): over HTTPS, or over HTTP from this machine",
        default: Words("none, so that they are refused");
    #[cfg(feature = "oauth")]
    OAUTH_CLIENT_ID: String = Entry::new("oauth-client-id", "ID", One(issuer::not_empty)),
        help: "The client as which this server asks the issuer about opaque tokens";
    #[cfg(feature = "oauth")]
    OAUTH_CLIENT_SECRET: String = Entry::new("oauth-client-secret", "file:PATH", One(issuer::not_empty)),
        help: "The file with that client's secret, which is sent by client_secret_basic",
        default: Words("none"), shape: Shape::Secret, is_secret: true;
    #[cfg(feature = "oauth")]
    OAUTH_INTROSPECTION_CACHE: Duration = Entry::new("oauth-introspection-cache", "DURATION", One(|text| units::between(text, ["0s", "60s"]))),
        help: "How long an accepted opaque token counts without another question, like 10s, at most 60s; a revocation at the issuer counts that much later",
        default: Value("0s");
    CORS_ORIGIN: Vec<String> = Entry::new("cors-origin", "ORIGIN", Many(|texts| value::buildable(|api| api.cors_origins(texts)).map(|()| texts.to_vec()))),
        help: "The origins whose scripts may call the API, like https://app.example.com",
        default: Words("none");
    SHUTDOWN_GRACE: Duration = Entry::new("shutdown-grace", "DURATION", One(|text| units::between(text, ["0s", "1d"]))),
        help: "How long running requests may take when the server is told to end, like 30s or 1m30s",
        default: Value("10s");
    PAGE_CACHE: usize = Entry::new("page-cache", "SIZE", One(units::size)),
        help: "How much memory rendered pages may take: a whole number of bytes, or one with KiB, MiB or GiB; 0 for none",
        default: Value("64MiB"), shape: Shape::Size;
    DATABASE_CONNECTIONS: NonZeroUsize = Entry::new("database-connections", "NUMBER", One(|text| value::count(text, value::MAX_DATABASE_CONNECTIONS))),
        help: "How many connections read from a PostgreSQL database at the same time, at most",
        default: Value("10"), shape: Shape::Size;
    DATABASE_TIMEOUT: Duration = Entry::new("database-timeout", "DURATION", One(|text| units::between(text, ["1s", "1d"]))),
        help: "How long a read from a PostgreSQL database may take, with all that it waits for",
        default: Value("2s");
    DATABASE_REPLICAS: Vec<String> = Entry::new("database-replicas", "ADDRESS", Many(database::parse_replicas)),
        help: "Standbys of the PostgreSQL database to read from, an address each; answers may be as old as their lag",
        default: Words("none"), note: "; requests read from the primary", is_secret: true;
    DATABASE_REPLICA_LAG: Duration = Entry::new("database-replica-lag", "DURATION", One(|text| units::between(text, ["1s", "1d"]))),
        help: "The greatest lag of a replica that is read; one with more, or unknown, lag is not used",
        default: Value("10s");
    WAIT: Option<Duration> = Entry::new("wait", "DURATION", One(value::wait)),
        help: "Waits at the start for a PostgreSQL database that is out of reach: as long as it takes, or up to that long",
        default: Value("false"), shape: Shape::Choice;
    RATE_LIMIT: RateLimit = Entry::new("rate-limit", "N/DURATION", One(rate_limit::parse)),
        help: "How many requests each credential may make, like 600/1m; also limits failed logins per client address",
        default: Words("no limit");
    RATE_LIMIT_STORE: StoreAddress = Entry::new("rate-limit-store", "URL", One(rate_limit::store_address)),
        help: "Where several servers count together: `redis://HOST:PORT/DATABASE`; while it is out of reach nothing is limited",
        default: Words("each server counts by itself"), is_secret: true;
    OTLP_ENDPOINT: Endpoint = Entry::new("otlp-endpoint", "URL", One(otlp::parse_endpoint)),
        help: "Where a build with OpenTelemetry sends a span of each request: a collector of OTLP over HTTP, like http://127.0.0.1:4318",
        default: Words("none");
    OTLP_SAMPLE: f64 = Entry::new("otlp-sample", "RATIO", One(otlp::ratio)),
        help: "The share of requests that get a span, from 0 to 1; those that belong to a caller's trace get one as the caller says",
        default: Value("1");
    NO_MIGRATE: bool = Entry::new("no-migrate", "", One(value::flag)),
        help: "Neither creates a missing database nor migrates an older one",
        default: Value("false"), shape: Shape::Flag;
    TLS_CERT: PathBuf = Entry::new("tls-cert", "FILE", One(|text| Ok(text.into()))),
        help: "The certificate for HTTPS, in PEM: the chain, the server's own first. It is read again when it changes, and on SIGHUP",
        default: Words("none, which is HTTP"), shape: Shape::Path, section: Section::Clients;
    TLS_KEY: PathBuf = Entry::new("tls-key", "FILE", One(|text| Ok(text.into()))),
        help: "The certificate's private key, in PEM: ECDSA, Ed25519 or RSA, without a passphrase",
        shape: Shape::Path, section: Section::Clients;
    TRUSTED_PROXIES: Networks = Entry::new("trusted-proxies", "CIDR", Many(Networks::parse)),
        help: "The proxies, as addresses or ranges like 10.0.0.0/8, whose X-Forwarded-For names the client",
        default: Words("none"), section: Section::Clients;
    SETTINGS_OWNER_HEADER: HeaderName = Entry::new("settings-owner-header", "NAME", One(developer::owner_header_name)),
        help: "The header in which a proxy that signs people in names the account whose developer settings they get, like Remote-User; it must strip it from what clients send",
        default: Words("none; owners sign in by links"), section: Section::Clients;
    SETTINGS_OWNER_SECRET: HeaderValue = Entry::new("settings-owner-secret", "file:PATH", One(developer::owner_secret)),
        help: "The file with what that proxy sends in Catalogue-Proxy-Secret, at least 32 characters; without it the addresses of --trusted-proxies are believed",
        default: Words("none"), shape: Shape::Secret, section: Section::Clients, is_secret: true;
    MAX_CONNECTIONS: u32 = Entry::new("max-connections", "NUMBER", One(|text| value::count(text, value::MAX_COUNT))),
        help: "The most connections at a time; when all are taken, an idle or slow one is closed for the next",
        default: Value("15000"), shape: Shape::Size, section: Section::Clients;
    // More than any storage processes at a time, and few enough that waiting requests meet the storage's deadlines.
    MAX_IN_FLIGHT: u32 = Entry::new("max-in-flight", "NUMBER", One(|text| value::count(text, value::MAX_COUNT))),
        help: "The most requests answered at the same time; further ones get 429",
        default: Value("1000"), shape: Shape::Size, section: Section::Clients;
    REQUEST_TIMEOUT: Duration = Entry::new("request-timeout", "DURATION", One(|text| units::lifetime(text).map(|time| time.min(value::DAY)))),
        help: "How long a request may take, from its head to the last byte of its answer, before its connection is closed; after 30s without progress it is closed anyway",
        default: Value("60s"), section: Section::Clients;
    DATABASE: Database = Entry::new("database", "ADDRESS", One(Database::parse)),
        help: "Where the data is: sqlite:PATH, postgres://USER@HOST/NAME, or sqlite::memory:, which ends with the program",
        default: Value("sqlite:catalogue.db"), note: "; for `demo` sqlite::memory:",
        section: Section::Every, is_secret: true;
    DATABASE_POOLER: bool = Entry::new("database-pooler", "", One(value::flag)),
        help: "The PostgreSQL database is behind a pooler in transaction mode, such as PgBouncer",
        default: Value("false"), shape: Shape::Flag, section: Section::Every;
    DATABASE_SCHEMA: String = Entry::new("database-schema", "NAME", One(|text| Ok(text.to_owned()))),
        help: "The schema of a PostgreSQL database that has the tables of this program",
        default: Words("catalogue beside views, else by search_path"), section: Section::Every;
    COURSES: bool = Entry::new("courses", "KIND", One(|text| value::one_of(text, "place of courses", &[("tables", false), ("views", true)]))),
        help: "Where courses are: in tables of this program, or in views over the tables of another one",
        default: Value("tables"), section: Section::Every, possible_values: &["tables", "views"];
    COURSES_SCHEMA: String = Entry::new("courses-schema", "NAME", One(|text| Ok(text.to_owned()))),
        help: "The schema of a PostgreSQL database that has the views",
        default: Value("public"), section: Section::Every;
    COURSES_DATABASE: PathBuf = Entry::new("courses-database", "sqlite:PATH", One(value::sqlite_file)),
        help: "The SQLite database that has the views, which is opened read-only; --database has the keys",
        default: Words("none"), section: Section::Every;
    LOG: EnvFilter = Entry::new("log", "LEVEL", One(logging::parse_filter)),
        help: "What is logged to standard error, in tracing's filter syntax. A bare level applies to catalogue; dependencies log errors only, unless they are named, like debug,h2=debug. info,catalogue::access=off leaves requests out",
        default: Value("info"), section: Section::Every, possible_values: &LEVELS;
    LOG_FORMAT: Format = Entry::new("log-format", "FORMAT", One(|text| value::one_of(text, "format of the log", &[("text", Format::Text), ("json", Format::Json)]))),
        help: "What lines of the log look like: text, or json for an object a line",
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
    fn the_servers_own_limits_are_the_defaults() {
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
    fn every_default_is_a_value() {
        read_all_defaults();
    }

    #[test]
    fn defaults_are_read_as_they_are_meant() {
        assert_eq!(LISTEN.default_value().to_string(), "127.0.0.1:8080");
        assert_eq!((BASE_URL.default_value(), DOCS_URL.default_value()), ("/api/v1".to_owned(), "/docs".to_owned()));
        assert_eq!(ACCEPT.default_value(), CredentialKind::ALL);
        assert_eq!((PAGE_CACHE.default_value(), WAIT.default_value()), (64 << 20, None));
        assert_eq!((DATABASE_CONNECTIONS.default_value().get(), OTLP_SAMPLE.default_value()), (10, 1.0));
        let times = [&SHUTDOWN_GRACE, &DATABASE_TIMEOUT, &DATABASE_REPLICA_LAG, &REQUEST_TIMEOUT];
        assert_eq!(times.map(|entry| entry.default_value().as_secs()), [10, 2, 10, 60]);
        assert_eq!([&MAX_CONNECTIONS, &MAX_IN_FLIGHT].map(Entry::default_value), [15_000, 1_000]);
        assert_eq!([&NO_MIGRATE, &DATABASE_POOLER, &COURSES].map(Entry::default_value), [false; 3]);
        assert_eq!(COURSES_SCHEMA.default_value(), "public");
        assert_eq!(DATABASE.default_value().to_string(), "sqlite:catalogue.db");
        assert_eq!(
            (LOG.default_value().to_string(), LOG_FORMAT.default_value()),
            ("catalogue=info,error".to_owned(), Format::Text)
        );
    }

    #[test]
    fn each_name_is_one_settings_and_is_explained() {
        let names: std::collections::BTreeSet<_> = all().map(|setting| setting.name).collect();
        assert_eq!(names.len(), all().count());
        assert!(all().all(|setting| !setting.help.is_empty()));
    }
}

//! [`Setting`]: the options that the environment and the configuration file can give too.

/// An option of the command line that has an environment variable and a key in the configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Setting {
    /// `--database`
    Database,
    /// `--database-pooler`
    DatabasePooler,
    /// `--database-connections`
    DatabaseConnections,
    /// `--database-timeout`
    DatabaseTimeout,
    /// `--database-replicas`
    DatabaseReplicas,
    /// `--database-replica-lag`
    DatabaseReplicaLag,
    /// `--wait`
    Wait,
    /// `--listen`
    Listen,
    /// `--base-url`
    BaseUrl,
    /// `--docs-url`
    DocsUrl,
    /// `--accept`
    Accept,
    /// `--cors-origin`
    CorsOrigin,
    /// `--log`
    Log,
    /// `--log-format`
    LogFormat,
    /// `--admin-listen`
    AdminListen,
    /// `--shutdown-grace`
    ShutdownGrace,
    /// `--page-cache`
    PageCache,
    /// `--rate-limit`
    RateLimit,
    /// `--rate-limit-store`
    RateLimitStore,
    /// `--otlp-endpoint`
    OtlpEndpoint,
    /// `--otlp-sample`
    OtlpSample,
    /// `--no-migrate`
    NoMigrate,
    /// `--tls-cert`
    TlsCert,
    /// `--tls-key`
    TlsKey,
    /// `--trusted-proxies`
    TrustedProxies,
    /// `--max-connections`
    MaxConnections,
    /// `--max-in-flight`
    MaxInFlight,
    /// `--request-timeout`
    RequestTimeout,
}

/// What a setting's value looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One text.
    Text,
    /// A size or a count: one text, or in the file also a number.
    Size,
    /// True, false, or one text that says more than true.
    Choice,
    /// Several texts; in one string they are separated by blanks or commas.
    List,
    /// True or false.
    Flag,
}

impl Setting {
    /// Every setting.
    pub(crate) const ALL: [Self; 28] = [
        Self::Database,
        Self::DatabasePooler,
        Self::DatabaseConnections,
        Self::DatabaseTimeout,
        Self::DatabaseReplicas,
        Self::DatabaseReplicaLag,
        Self::Wait,
        Self::Listen,
        Self::BaseUrl,
        Self::DocsUrl,
        Self::Accept,
        Self::CorsOrigin,
        Self::Log,
        Self::LogFormat,
        Self::AdminListen,
        Self::ShutdownGrace,
        Self::PageCache,
        Self::RateLimit,
        Self::RateLimitStore,
        Self::OtlpEndpoint,
        Self::OtlpSample,
        Self::NoMigrate,
        Self::TlsCert,
        Self::TlsKey,
        Self::TrustedProxies,
        Self::MaxConnections,
        Self::MaxInFlight,
        Self::RequestTimeout,
    ];

    /// The option's name and the shape of its value.
    const fn row(self) -> (&'static str, Shape) {
        match self {
            Self::Database => ("database", Shape::Text),
            Self::DatabasePooler => ("database-pooler", Shape::Flag),
            Self::DatabaseConnections => ("database-connections", Shape::Size),
            Self::DatabaseTimeout => ("database-timeout", Shape::Text),
            Self::DatabaseReplicas => ("database-replicas", Shape::List),
            Self::DatabaseReplicaLag => ("database-replica-lag", Shape::Text),
            Self::Wait => ("wait", Shape::Choice),
            Self::Listen => ("listen", Shape::Text),
            Self::BaseUrl => ("base-url", Shape::Text),
            Self::DocsUrl => ("docs-url", Shape::Text),
            Self::Accept => ("accept", Shape::List),
            Self::CorsOrigin => ("cors-origin", Shape::List),
            Self::Log => ("log", Shape::Text),
            Self::LogFormat => ("log-format", Shape::Text),
            Self::AdminListen => ("admin-listen", Shape::Text),
            Self::ShutdownGrace => ("shutdown-grace", Shape::Text),
            Self::PageCache => ("page-cache", Shape::Size),
            Self::RateLimit => ("rate-limit", Shape::Text),
            Self::RateLimitStore => ("rate-limit-store", Shape::Text),
            Self::OtlpEndpoint => ("otlp-endpoint", Shape::Text),
            Self::OtlpSample => ("otlp-sample", Shape::Text),
            Self::NoMigrate => ("no-migrate", Shape::Flag),
            Self::TlsCert => ("tls-cert", Shape::Text),
            Self::TlsKey => ("tls-key", Shape::Text),
            Self::TrustedProxies => ("trusted-proxies", Shape::List),
            Self::MaxConnections => ("max-connections", Shape::Size),
            Self::MaxInFlight => ("max-in-flight", Shape::Size),
            Self::RequestTimeout => ("request-timeout", Shape::Text),
        }
    }

    /// The option's name, without hyphens before it: the key in the configuration file.
    pub(crate) const fn name(self) -> &'static str {
        self.row().0
    }

    /// Whether its value is an address that may hold a password: it is never shown whole, and may stand in a file.
    pub(crate) const fn is_secret(self) -> bool {
        matches!(self, Self::Database | Self::DatabaseReplicas | Self::RateLimitStore)
    }

    /// What its value looks like.
    pub(crate) const fn shape(self) -> Shape {
        self.row().1
    }

    /// The environment variable, such as `CATALOGUE_BASE_URL`.
    pub(crate) fn variable(self) -> String {
        format!("CATALOGUE_{}", self.name().replace('-', "_").to_uppercase())
    }
}

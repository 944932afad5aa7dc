//! Metrics for Prometheus, in its text format (version 0.0.4).
//!
//! `catalogue-observers` counts requests; the other metrics follow. All labels come from fixed lists, and none from a client.

mod database;
mod developer_settings;
mod process;
#[cfg(feature = "oauth")]
mod signed_tokens;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use catalogue_core::Catalogue;
use catalogue_core::storage::StorageStatus;
use catalogue_hyper::{ConnectionMetrics, Tls};
use catalogue_observers::prometheus::{Exposition, RequestMetrics};

#[cfg(feature = "oauth")]
use crate::issuer::IssuerTokens;
use crate::logging::Sink;
#[cfg(feature = "otel")]
use crate::otlp::SpanCounts;
use developer_settings::SettingsCounts;

/// All measurements of a server. Those that are available only after startup are set once.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// The catalogue's observer.
    pub(crate) requests: Arc<RequestMetrics>,
    pub(crate) settings: SettingsCounts,
    /// Counters of the HTTP server.
    pub(crate) connections: Arc<ConnectionMetrics>,
    /// The served catalogue, and the maximum number of connections.
    pub(crate) served: OnceLock<(Catalogue, u32)>,
    /// Number of requests that a rate limit let through uncounted.
    pub(crate) uncounted: OnceLock<Arc<AtomicU64>>,
    /// Set if spans are exported.
    #[cfg(feature = "otel")]
    pub(crate) spans: OnceLock<Arc<SpanCounts>>,
    /// Set if an issuer's tokens are accepted.
    #[cfg(feature = "oauth")]
    pub(crate) tokens: OnceLock<IssuerTokens>,
    /// Set if the server speaks HTTPS.
    pub(crate) tls: OnceLock<Arc<Tls>>,
}

impl Metrics {
    /// Renders all metrics as text, for a server that started at `began` and logs to `log`. `database` is `None`
    /// without a database server, and `Some(None)` if it did not respond.
    pub(crate) fn render(&self, began: SystemTime, log: &Sink, database: Option<Option<&StorageStatus>>) -> String {
        let mut out = Exposition::default();
        let version = [("version", env!("CARGO_PKG_VERSION"))];
        out.metric("catalogue_build_info", "The version that runs; always 1.").value(&version, 1);
        self.requests.render(&mut out);
        self.settings.render(&mut out);
        self.render_connections(&mut out);
        if let Some((catalogue, max_connections)) = self.served.get() {
            let help = "Connections that may be open; further ones wait in the listen queue.";
            out.single("catalogue_connections_max", help, max_connections);
            let (in_flight, pages) = (catalogue.in_flight(), catalogue.page_cache());
            out.single("catalogue_http_requests_in_flight", "Requests that are being answered.", in_flight);
            out.single("catalogue_page_cache_hits_total", "Answers that were found rendered.", pages.hits);
            out.single("catalogue_page_cache_misses_total", "Answers that had to be rendered.", pages.misses);
            out.single("catalogue_page_cache_bytes", "Memory that rendered answers take up at most.", pages.bytes);
        }
        if let Some(uncounted) = self.uncounted.get() {
            let help = "Requests that went on uncounted, as the store of the rate limit was out of reach.";
            out.single("catalogue_limits_uncounted_total", help, uncounted.load(Ordering::Relaxed));
        }
        #[cfg(feature = "otel")]
        if let Some(spans) = self.spans.get() {
            let help = "Spans that a collector took.";
            out.single("catalogue_spans_exported_total", help, spans.exported.load(Ordering::Relaxed));
            let help = "Spans that were dropped, as there was no room for them or no collector took them.";
            out.single("catalogue_spans_dropped_total", help, spans.dropped.load(Ordering::Relaxed));
        }
        #[cfg(feature = "oauth")]
        if let Some(tokens) = self.tokens.get() {
            signed_tokens::render(tokens, &mut out);
        }
        if let Some(tls) = self.tls.get() {
            let (help, expiry) =
                ("When the certificate in use expires, since 1970-01-01T00:00:00Z.", tls.validity().not_after);
            out.single("catalogue_tls_certificate_expiry_timestamp_seconds", help, expiry.unix_timestamp());
        }
        if let Some(status) = database {
            database::render(status, &mut out);
        }
        let help = "Lines of the log that were dropped, as standard error did not take them.";
        out.single("catalogue_log_dropped_lines_total", help, log.dropped());
        process::render(began, &mut out);
        out.into_text()
    }

    fn render_connections(&self, out: &mut Exposition) {
        let counts = &self.connections;
        out.single("catalogue_connections_accepted_total", "Connections that were accepted.", counts.accepted());
        out.single("catalogue_connections_open", "Connections that are open.", counts.open());
        let mut ended = out.metric("catalogue_connections_ended_total", "Connections that have ended, by reason.");
        for (reason, count) in counts.closed() {
            ended.value(&[("reason", reason.name())], count);
        }
        let help = "Failed accepts, for example because of the open-file limit.";
        out.single("catalogue_accept_failures_total", help, counts.accept_failures());
        let help = "Requests that could not be read, and were answered 4xx bare.";
        out.single("catalogue_malformed_requests_total", help, counts.malformed());
        let help = "Requests of HTTP/2 that were refused, as too many answers waited for their clients.";
        out.single("catalogue_refused_streams_total", help, counts.refused());
        let help = "Requests that ended by a panic.";
        out.single("catalogue_panics_total", help, counts.panics());
    }
}

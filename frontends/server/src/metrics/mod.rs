//! Metrics for Prometheus, in its text format (version 0.0.4).
//!
//! `catalogue-observers` counts requests; this module adds the rest. Labels come from code or settings, never from clients.

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

/// All measurements of a server. Measurements that exist only after startup are set once.
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
    /// Renders all metrics as text, for a server that started at `began` and logs to `log`. `database` is `None` unless a
    /// database server is open, and `Some(None)` if it did not respond.
    pub(crate) fn render(&self, began: SystemTime, log: &Sink, database: Option<Option<&StorageStatus>>) -> String {
        let mut out = Exposition::default();
        let version = [("version", env!("CARGO_PKG_VERSION"))];
        out.metric("catalogue_build_info", "Version of the program; always 1.").value(&version, 1);
        self.requests.render(&mut out);
        self.settings.render(&mut out);
        self.render_connections(&mut out);
        if let Some((catalogue, max_connections)) = self.served.get() {
            let help = "Maximum number of open connections; further ones wait in the listen queue.";
            out.single("catalogue_connections_max", help, max_connections);
            out.single("catalogue_http_requests_in_flight", "Requests in flight.", catalogue.in_flight());
            let pages = catalogue.page_cache();
            out.single("catalogue_page_cache_hits_total", "Response cache hits.", pages.hits);
            out.single("catalogue_page_cache_misses_total", "Response cache misses.", pages.misses);
            out.single("catalogue_page_cache_bytes", "Upper bound of the response cache's memory use.", pages.bytes);
        }
        if let Some(uncounted) = self.uncounted.get() {
            let help = "Requests that were not counted because the rate-limit store was unreachable.";
            out.single("catalogue_limits_uncounted_total", help, uncounted.load(Ordering::Relaxed));
        }
        #[cfg(feature = "otel")]
        if let Some(spans) = self.spans.get() {
            let [exported, dropped] = [&spans.exported, &spans.dropped].map(|count| count.load(Ordering::Relaxed));
            out.single("catalogue_spans_exported_total", "Spans that the collector accepted.", exported);
            out.single("catalogue_spans_dropped_total", "Spans lost to a full queue or a failing collector.", dropped);
        }
        #[cfg(feature = "oauth")]
        if let Some(tokens) = self.tokens.get() {
            signed_tokens::render(tokens, &mut out);
        }
        if let Some(tls) = self.tls.get() {
            let (help, expiry) = ("Expiry of the certificate in use, in Unix time.", tls.validity().not_after);
            out.single("catalogue_tls_certificate_expiry_timestamp_seconds", help, expiry.unix_timestamp());
        }
        if let Some(status) = database {
            database::render(status, &mut out);
        }
        out.single("catalogue_log_dropped_lines_total", "Log lines lost to a blocked standard error.", log.dropped());
        process::render(began, &mut out);
        out.into_text()
    }

    fn render_connections(&self, out: &mut Exposition) {
        let counts = &self.connections;
        out.single("catalogue_connections_accepted_total", "Accepted connections.", counts.accepted());
        out.single("catalogue_connections_open", "Open connections.", counts.open());
        let mut ended = out.metric("catalogue_connections_ended_total", "Ended connections, by reason.");
        for (reason, count) in counts.closed() {
            ended.value(&[("reason", reason.name())], count);
        }
        let help = "Failed accepts, for example because of the open-file limit.";
        out.single("catalogue_accept_failures_total", help, counts.accept_failures());
        let help = "Malformed requests, rejected with a 4xx without a body.";
        out.single("catalogue_malformed_requests_total", help, counts.malformed());
        let help = "HTTP/2 requests refused because too many responses waited for their clients.";
        out.single("catalogue_refused_streams_total", help, counts.refused());
        out.single("catalogue_panics_total", "Requests that panicked.", counts.panics());
    }
}

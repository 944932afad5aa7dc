//! Metrics for Prometheus, in its text format (version 0.0.4).
//!
//! What happens at each request is counted in atomic numbers that stand where they are needed ([`requests`]), so that it
//! costs no allocation, no lock and no look-up of a name; a registry of names is only what [`exposition`] writes. All labels
//! come from fixed lists: nothing that a client sends becomes one.

mod database;
mod exposition;
mod process;
mod requests;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use catalogue_core::Catalogue;
use catalogue_core::storage::StorageStatus;

use crate::logging::Sink;
use crate::otlp::SpanCounts;
use catalogue_hyper::{ConnectionMetrics, Tls};
use exposition::Exposition;
use process::Process;
pub(crate) use requests::RequestMetrics;

/// The media type of the text format.
pub(crate) const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// All that is measured of a server.
#[derive(Debug)]
pub(crate) struct Metrics {
    requests: Arc<RequestMetrics>,
    connections: Arc<ConnectionMetrics>,
    most_connections: OnceLock<u32>,
    /// Once there is one.
    catalogue: OnceLock<Catalogue>,
    /// Requests that a rate limit let through uncounted.
    uncounted: OnceLock<Arc<AtomicU64>>,
    /// Where spans are exported.
    spans: OnceLock<Arc<SpanCounts>>,
    /// Where the server speaks HTTPS.
    tls: OnceLock<Arc<Tls>>,
    log: Arc<Sink>,
    process: Process,
}

impl Metrics {
    /// Metrics of a server that begins now and logs to `log`.
    pub(crate) fn new(log: Arc<Sink>) -> Self {
        Self {
            requests: Arc::default(),
            connections: Arc::default(),
            most_connections: OnceLock::new(),
            catalogue: OnceLock::new(),
            uncounted: OnceLock::new(),
            spans: OnceLock::new(),
            tls: OnceLock::new(),
            log,
            process: Process::begun_now(),
        }
    }

    /// Counts requests, as the catalogue's observer.
    pub(crate) fn requests(&self) -> Arc<RequestMetrics> {
        Arc::clone(&self.requests)
    }

    /// What the serving loop counts of connections.
    pub(crate) fn connections(&self) -> Arc<ConnectionMetrics> {
        Arc::clone(&self.connections)
    }

    /// From now on that catalogue is served to so many connections at most.
    pub(crate) fn serves(&self, catalogue: Catalogue, most_connections: u32) {
        // A server serves once.
        let _ = self.catalogue.set(catalogue);
        let _ = self.most_connections.set(most_connections);
    }

    /// From now on requests that a rate limit lets through uncounted are counted there.
    pub(crate) fn limits(&self, uncounted: Arc<AtomicU64>) {
        // As above.
        let _ = self.uncounted.set(uncounted);
    }

    /// From now on spans are exported, and counted there.
    pub(crate) fn exports(&self, spans: Arc<SpanCounts>) {
        // As above.
        let _ = self.spans.set(spans);
    }

    /// From now on that certificate is shown to clients.
    pub(crate) fn secures(&self, tls: Arc<Tls>) {
        // As above.
        let _ = self.tls.set(tls);
    }

    /// All of them as text, with those of a database on a server where there is one, which may have given no answer.
    pub(crate) fn render(&self, database: Option<Option<&StorageStatus>>) -> String {
        let mut out = Exposition::default();
        out.gauge("catalogue_build_info", "The version that runs; always 1.")
            .labelled(&[("version", env!("CARGO_PKG_VERSION"))], 1);
        self.requests.render(&mut out);
        if let Some(catalogue) = self.catalogue.get() {
            render_catalogue(catalogue, &mut out);
        }
        if let Some(uncounted) = self.uncounted.get() {
            out.counter(
                "catalogue_limits_uncounted_total",
                "Requests that went on uncounted, as the store of the rate limit was out of reach.",
            )
            .value(uncounted.load(Ordering::Relaxed));
        }
        if let Some(spans) = self.spans.get() {
            out.counter("catalogue_spans_exported_total", "Spans that a collector took.")
                .value(spans.exported.load(Ordering::Relaxed));
            out.counter(
                "catalogue_spans_dropped_total",
                "Spans that were dropped, as there was no room for them or no collector took them.",
            )
            .value(spans.dropped.load(Ordering::Relaxed));
        }
        if let Some(tls) = self.tls.get() {
            out.gauge(
                "catalogue_tls_certificate_expiry_timestamp_seconds",
                "When the certificate in use expires, since 1970-01-01T00:00:00Z.",
            )
            .value(tls.validity().not_after.unix_timestamp());
        }
        if let Some(status) = database {
            database::render(status, &mut out);
        }
        self.render_connections(&mut out);
        out.counter(
            "catalogue_log_dropped_lines_total",
            "Lines of the log that were dropped, as standard error did not take them.",
        )
        .value(self.log.dropped());
        self.process.render(&mut out);
        out.finish()
    }

    fn render_connections(&self, out: &mut Exposition) {
        let counts = &self.connections;
        out.counter("catalogue_connections_accepted_total", "Connections that were accepted.").value(counts.accepted());
        out.gauge("catalogue_connections_open", "Connections that are open.").value(counts.open());
        if let Some(most) = self.most_connections.get() {
            out.gauge(
                "catalogue_connections_max",
                "Connections that may be open; further ones wait in the listen queue.",
            )
            .value(u64::from(*most));
        }
        let mut ended = out.counter("catalogue_connections_ended_total", "Connections that have ended, by reason.");
        for (reason, count) in counts.closed() {
            ended.labelled(&[("reason", reason.name())], count);
        }
        out.counter(
            "catalogue_accept_failures_total",
            "Accepts that failed for want of something, such as open files.",
        )
        .value(counts.accept_failures());
        out.counter(
            "catalogue_malformed_requests_total",
            "Requests that could not be read, and were answered 4xx bare.",
        )
        .value(counts.malformed());
        out.counter(
            "catalogue_refused_streams_total",
            "Requests of HTTP/2 that were refused, as too many answers waited for their clients.",
        )
        .value(counts.refused());
        out.counter("catalogue_panics_total", "Requests that were answered 500 bare, as their service panicked.")
            .value(counts.panics());
    }
}

fn render_catalogue(catalogue: &Catalogue, out: &mut Exposition) {
    out.gauge("catalogue_http_requests_in_flight", "Requests that are being answered.")
        .value(catalogue.in_flight() as u64);
    let pages = catalogue.page_cache();
    out.counter("catalogue_page_cache_hits_total", "Answers that were found rendered.").value(pages.hits);
    out.counter("catalogue_page_cache_misses_total", "Answers that had to be rendered.").value(pages.misses);
    out.gauge("catalogue_page_cache_bytes", "Memory that rendered answers take up at most.").value(pages.bytes);
}

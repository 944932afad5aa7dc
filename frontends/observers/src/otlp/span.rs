//! [`Template`]: creates the span of a request, following the semantic conventions for HTTP servers.

use std::sync::Arc;
use std::time::SystemTime;

use catalogue_core::Operation;
use catalogue_core::observe::{FinishedRequest, TraceParent};
use http::Method;
use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue, Value};
use opentelemetry_sdk::trace::{
    IdGenerator as _, RandomIdGenerator, Sampler, SamplingDecision, ShouldSample as _, SpanData, SpanEvents, SpanLinks,
};

use super::export::Site;

/// Template of spans: the properties that they share, and which requests get one.
#[derive(Debug)]
pub(crate) struct Template {
    /// Decides about requests without a caller's trace.
    sampler: Sampler,
    ids: RandomIdGenerator,
    scope: InstrumentationScope,
    /// Scheme that clients use, as far as it is known.
    scheme: &'static str,
    /// Path of the base URL, which precedes the paths of operations.
    base_path: String,
}

/// Position of a span within a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TraceContext {
    trace: TraceId,
    /// The caller's span, if the trace is the caller's.
    parent: Option<SpanId>,
}

impl Template {
    /// Creates a template for requests to a site. Samples a fraction `ratio` of those without a caller's trace.
    pub(crate) fn new(ratio: f64, Site { base_url, secured }: Site<'_>) -> Self {
        let https = match base_url.split_once("://") {
            Some((scheme, _)) => scheme.eq_ignore_ascii_case("https"),
            None => secured,
        };
        let path = base_url.parse().map_or_else(|_| String::new(), |uri: http::Uri| uri.path().to_owned());
        Self {
            sampler: Sampler::TraceIdRatioBased(ratio),
            ids: RandomIdGenerator::default(),
            scope: InstrumentationScope::builder("catalogue").with_version(env!("CARGO_PKG_VERSION")).build(),
            scheme: if https { "https" } else { "http" },
            base_path: path.trim_end_matches('/').to_owned(),
        }
    }

    /// Returns the position of a request's span, or `None` if it gets none. If the caller sent a `parent`, its flags
    /// decide. Of the other requests, a fraction gets a span, each as the root of a new trace.
    pub(crate) fn trace_context(&self, parent: Option<TraceParent<'_>>) -> Option<TraceContext> {
        let Some(parent) = parent else {
            let trace = self.ids.new_trace_id();
            let sampled = self.sampler.should_sample(None, trace, "", &SpanKind::Server, &[], &[]);
            return (sampled.decision == SamplingDecision::RecordAndSample)
                .then_some(TraceContext { trace, parent: None });
        };
        parent.is_sampled().then(|| TraceContext {
            trace: TraceId::from_hex(parent.trace_id()).expect("32 hexadecimal digits"),
            parent: Some(SpanId::from_hex(parent.parent_id()).expect("16 hexadecimal digits")),
        })
    }

    /// Returns the span of a request that has just finished.
    pub(crate) fn span(&self, request: &FinishedRequest<'_>, trace_context: TraceContext) -> SpanData {
        let now = SystemTime::now();
        let name = request.operation.map_or(method(request.method).unwrap_or("HTTP"), Operation::id);
        let id = self.ids.new_span_id();
        SpanData {
            span_context: SpanContext::new(trace_context.trace, id, TraceFlags::SAMPLED, false, TraceState::NONE),
            parent_span_id: trace_context.parent.unwrap_or(SpanId::INVALID),
            parent_span_is_remote: trace_context.parent.is_some(),
            span_kind: SpanKind::Server,
            name: name.into(),
            start_time: now.checked_sub(request.duration).unwrap_or(now),
            end_time: now,
            attributes: self.attributes(request),
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            // A 4xx is the client's error: the conventions for servers leave its status unset.
            status: if request.status.is_server_error() { Status::error("") } else { Status::Unset },
            instrumentation_scope: self.scope.clone(),
        }
    }

    /// Returns the attributes. They contain no secret: neither token, cursor, request path nor query.
    fn attributes(&self, request: &FinishedRequest<'_>) -> Vec<KeyValue> {
        let status = request.status;
        let mut attributes = vec![
            KeyValue::new("http.request.method", method(request.method).unwrap_or("_OTHER")),
            KeyValue::new("http.response.status_code", i64::from(status.as_u16())),
            KeyValue::new("http.response.body.size", i64::try_from(request.body_length).unwrap_or(i64::MAX)),
            KeyValue::new("url.scheme", self.scheme),
            KeyValue::new("catalogue.operation", request.operation.map_or("other", Operation::id)),
            KeyValue::new("catalogue.request_id", request.request_id.to_owned()),
        ];
        let route = |operation: Operation| format!("{}{}", self.base_path, operation.path());
        let mut add = |name, value: Option<Value>| attributes.extend(value.map(|value| KeyValue::new(name, value)));
        add("http.route", request.operation.map(|operation| route(operation).into()));
        add("error.type", status.is_server_error().then(|| status.as_str().to_owned().into()));
        add("catalogue.account", request.caller.map(|caller| caller.account.as_str().to_owned().into()));
        add("catalogue.credential", request.caller.map(|caller| Arc::clone(&caller.credential_id).into()));
        add("catalogue.refusal", request.refusal.map(|refusal| refusal.reason().into()));
        add("catalogue.limit", request.exceeded.map(|limit| limit.name().into()));
        attributes
    }
}

/// Returns the method's name, or `None` if HTTP does not define it, since it can then be any text.
fn method(method: &Method) -> Option<&'static str> {
    const KNOWN: [&str; 9] = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "TRACE"];
    KNOWN.into_iter().find(|known| *known == method.as_str())
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::*;

    fn template(ratio: f64) -> Template {
        Template::new(ratio, Site { base_url: "/api/v1", secured: false })
    }

    #[test]
    fn template_uses_public_scheme_and_path() {
        for (base_url, secured, scheme, path) in [
            ("/api/v1", false, "http", "/api/v1"),
            ("/api/v1", true, "https", "/api/v1"),
            ("https://api.example.com/v1/", false, "https", "/v1"),
            ("http://api.example.com", true, "http", ""),
        ] {
            let template = Template::new(1.0, Site { base_url, secured });
            assert_eq!((template.scheme, &*template.base_path), (scheme, path), "{base_url}");
        }
    }

    #[test]
    fn traceparent_decides_sampling() {
        for (ratio, flags, is_recorded) in [(0.0, "01", true), (1.0, "00", false)] {
            let text = format!("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-{flags}");
            let headers =
                HeaderMap::from_iter([("traceparent".parse().unwrap(), HeaderValue::try_from(text).unwrap())]);
            let trace_context = template(ratio).trace_context(Some(TraceParent::of(&headers).unwrap()));
            let expected = TraceContext {
                trace: TraceId::from(0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736),
                parent: Some(SpanId::from(0x00f0_67aa_0ba9_02b7)),
            };
            assert_eq!(trace_context, is_recorded.then_some(expected));
        }
    }

    #[test]
    fn fraction_of_requests_without_trace_begins_new_trace() {
        let trace_contexts = |ratio| {
            let template = template(ratio);
            (0..10_000).filter_map(|_| template.trace_context(None)).collect::<Vec<_>>()
        };
        assert_eq!(trace_contexts(0.0), []);
        assert_eq!(trace_contexts(1.0).len(), 10_000);
        // Twenty standard deviations on each side.
        let some = trace_contexts(0.25);
        assert!((1_600..3_400).contains(&some.len()), "{}", some.len());
        assert!(some.iter().all(|trace_context| trace_context.parent.is_none()));
    }
}

//! Decoded export requests.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::trace::v1;
use prost::Message as _;
use serde_json::Value;

/// A span, with ids as hexadecimal digits.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) trace: String,
    pub(crate) id: String,
    /// Empty for the first span of a trace.
    pub(crate) parent: String,
    pub(crate) name: String,
    pub(crate) kind: i32,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) attributes: BTreeMap<String, Value>,
    pub(crate) status: i32,
    pub(crate) flags: u32,
}

/// An `ExportTraceServiceRequest`.
#[derive(Clone, Debug)]
pub(crate) struct Export {
    pub(crate) resource: BTreeMap<String, Value>,
    pub(crate) scope: String,
    pub(crate) spans: Vec<Span>,
}

impl Export {
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let export = ExportTraceServiceRequest::decode(bytes).unwrap();
        let [resource_spans] = &*export.resource_spans else { panic!("{export:?}") };
        let [scope_spans] = &*resource_spans.scope_spans else { panic!("{export:?}") };
        Self {
            resource: pairs(&resource_spans.resource.as_ref().unwrap().attributes),
            scope: scope_spans.scope.as_ref().unwrap().name.clone(),
            spans: scope_spans.spans.iter().map(Span::read).collect(),
        }
    }
}

impl Span {
    fn read(span: &v1::Span) -> Self {
        assert!(span.trace_state.is_empty() && span.events.is_empty() && span.links.is_empty(), "{span:?}");
        Self {
            trace: hexadecimal(&span.trace_id),
            id: hexadecimal(&span.span_id),
            parent: hexadecimal(&span.parent_span_id),
            name: span.name.clone(),
            kind: span.kind,
            start: span.start_time_unix_nano,
            end: span.end_time_unix_nano,
            attributes: pairs(&span.attributes),
            status: span.status.as_ref().map_or(0, |status| status.code),
            flags: span.flags,
        }
    }

    /// Returns the attribute `name`, or null.
    pub(crate) fn get(&self, name: &str) -> Value {
        self.attributes.get(name).cloned().unwrap_or_default()
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn pairs(pairs: &[KeyValue]) -> BTreeMap<String, Value> {
    let value = |pair: &KeyValue| match pair.value.as_ref().unwrap().value.as_ref().unwrap() {
        Any::StringValue(text) => text.as_str().into(),
        Any::IntValue(number) => (*number).into(),
        other => panic!("{other:?}"),
    };
    let by_name: BTreeMap<_, _> = pairs.iter().map(|pair| (pair.key.clone(), value(pair))).collect();
    assert_eq!(by_name.len(), pairs.len(), "a name is repeated: {pairs:?}");
    by_name
}

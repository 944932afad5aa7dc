//! Decoded export requests.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
pub(crate) use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use serde_json::Value;

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
        for span in &scope_spans.spans {
            assert!(span.trace_state.is_empty() && span.events.is_empty() && span.links.is_empty(), "{span:?}");
        }
        Self {
            resource: pairs(&resource_spans.resource.as_ref().unwrap().attributes),
            scope: scope_spans.scope.as_ref().unwrap().name.clone(),
            spans: scope_spans.spans.clone(),
        }
    }
}

/// Returns the attribute `name` of a span, or null.
pub(crate) fn attribute(span: &Span, name: &str) -> Value {
    pairs(&span.attributes).remove(name).unwrap_or_default()
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
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

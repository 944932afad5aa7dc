//! The OpenAPI 3.0 document, for older generators.

use catalogue_core::DocumentFormat;
use serde_json::{Value, json};

use crate::{json, resolve, walk};

/// Keywords that OpenAPI 3.0 does not have.
const NEWER: [&str; 12] = [
    "$defs",
    "$schema",
    "const",
    "contentEncoding",
    "identifier",
    "if",
    "jsonSchemaDialect",
    "patternProperties",
    "prefixItems",
    "propertyNames",
    "unevaluatedProperties",
    "webhooks",
];

#[test]
fn document_uses_no_newer_keywords() {
    let document = json(DocumentFormat::OpenApi30);
    assert_eq!(document["openapi"], "3.0.3");
    assert!(document["info"].get("summary").is_none());
    walk(&document, &mut |at, value| {
        let Some(object) = value.as_object() else {
            return;
        };
        for word in NEWER {
            assert!(!object.contains_key(word), "{at} has {word}");
        }
        assert!(!object.get("type").is_some_and(Value::is_array), "{at} has several types");
        assert!(object.get("type").is_none_or(|kind| kind != "null"), "{at} is null");
        assert!(!object.get("examples").is_some_and(Value::is_array), "{at} has a list of examples");
        assert!(!object.get("exclusiveMinimum").is_some_and(Value::is_number), "{at} has an exclusive minimum");
        assert!(!object.contains_key("$ref") || object.len() == 1, "{at} has members next to a reference");
        if let Some(requirements) = object.get("security") {
            assert_eq!(requirements, &json!([{ "bearer": [] }]), "{at}");
        }
        resolve(&document, value);
    });
}

#[test]
fn both_versions_have_the_same_content() {
    let (newer, older) = (json(DocumentFormat::OpenApi), json(DocumentFormat::OpenApi30));
    for pointer in ["/info/description", "/servers", "/tags", "/components/responses", "/components/parameters"] {
        assert_eq!(newer.pointer(pointer), older.pointer(pointer), "{pointer}");
    }
    for (path, item) in newer["paths"].as_object().unwrap() {
        for part in ["operationId", "description", "parameters", "responses"] {
            assert_eq!(item["get"].get(part), older["paths"][path]["get"].get(part), "{path} {part}");
        }
    }
    for (name, schema) in newer["components"]["schemas"].as_object().unwrap() {
        assert_eq!(schema.get("required"), older["components"]["schemas"][name].get("required"), "{name}");
    }
}

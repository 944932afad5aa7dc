//! The OpenAPI document in version 3.0.3, for generators that do not support 3.1.
//!
//! Converted from the 3.1 document. Only `info.summary` and further examples of a schema are lost.

use serde_json::{Map, Value, json};

use super::about::Site;
use super::openapi;

const OPENAPI: &str = "3.0.3";

/// Keys whose values are data, which is not converted.
const DATA: [&str; 4] = ["example", "value", "default", "enum"];

pub(super) fn render(site: Site<'_>) -> String {
    let mut document = openapi::document(site);
    document["openapi"] = OPENAPI.into();
    if let Some(info) = document["info"].as_object_mut() {
        info.shift_remove("summary");
    }
    convert(&mut document);
    format!("{document:#}")
}

fn convert(value: &mut Value) {
    match value {
        Value::Object(object) => {
            nullable(object);
            first_example(object);
            lone_reference(object);
            object.iter_mut().filter(|(key, _)| !DATA.contains(&key.as_str())).for_each(|(_, child)| convert(child));
        }
        Value::Array(items) => items.iter_mut().for_each(convert),
        _ => {}
    }
}

/// Converts `type: [T, "null"]` to `type: T` and `nullable: true`.
fn nullable(object: &mut Map<String, Value>) {
    let Some(Value::Array(types)) = object.get_mut("type") else {
        return;
    };
    let all = types.len();
    types.retain(|name| name != "null");
    let is_nullable = types.len() < all;
    if let [only] = &mut types[..] {
        let only = only.take();
        object.insert("type".to_owned(), only);
    }
    if is_nullable {
        object.insert("nullable".to_owned(), true.into());
    }
}

/// Converts a schema's examples to one `example`. The map of examples of a media type stays.
fn first_example(object: &mut Map<String, Value>) {
    if let Some(Value::Array(examples)) = object.get_mut("examples") {
        let first = examples.first_mut().map(Value::take);
        object.shift_remove("examples");
        object.extend(first.map(|example| ("example".to_owned(), example)));
    }
}

/// Wraps a reference with siblings in `allOf`, because a reference must have no siblings.
fn lone_reference(object: &mut Map<String, Value>) {
    if object.len() > 1
        && object.get("$ref").is_some_and(Value::is_string)
        && let Some(reference) = object.remove("$ref")
    {
        object.insert("allOf".to_owned(), json!([{ "$ref": reference }]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_keywords_are_converted_and_examples_preserved() {
        let mut value = json!({
            "schema": { "type": ["string", "null"], "examples": ["a", "b"] },
            "beside": { "$ref": "#/x", "description": "d" },
            "alone": { "$ref": "#/x" },
            "example": { "type": ["string", "null"] },
        });
        convert(&mut value);
        let expected = json!({
            "schema": { "type": "string", "nullable": true, "example": "a" },
            "beside": { "allOf": [{ "$ref": "#/x" }], "description": "d" },
            "alone": { "$ref": "#/x" },
            "example": { "type": ["string", "null"] },
        });
        assert_eq!(value, expected);
    }
}

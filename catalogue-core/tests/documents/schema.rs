//! Validation of a value against a schema of the document, for the keywords that the document uses, except `format`.

use serde_json::Value;

use crate::resolve;

/// Returns the violations of `schema` by `value`.
pub(crate) fn violations(document: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut result = Vec::new();
    check(document, schema, value, "", &mut result);
    result
}

fn check(document: &Value, schema: &Value, value: &Value, at: &str, result: &mut Vec<String>) {
    let schema = resolve(document, schema).as_object().unwrap_or_else(|| panic!("{at}: the schema is not an object"));
    for (word, rule) in schema {
        let fits = match word.as_str() {
            "description" | "examples" | "format" | "required" | "additionalProperties" => true,
            "type" => match rule {
                Value::Array(types) => types.iter().any(|name| has_type(value, name)),
                name => has_type(value, name),
            },
            "enum" => rule.as_array().unwrap().contains(value),
            "minimum" => value.as_i64().is_none_or(|number| number >= rule.as_i64().unwrap()),
            "properties" => {
                check_object(document, &Value::Object(schema.clone()), value, at, result);
                true
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(document, rule, item, &format!("{at}/{index}"), result);
                }
                true
            }
            other => panic!("{at}: unknown keyword {other}"),
        };
        if !fits {
            result.push(format!("{at}: {value} does not fit {word} {rule}"));
        }
    }
}

fn check_object(document: &Value, schema: &Value, value: &Value, at: &str, result: &mut Vec<String>) {
    let Some(object) = value.as_object() else {
        return;
    };
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !object.contains_key(name) {
            result.push(format!("{at}: {name} is missing"));
        }
    }
    for (name, child) in object {
        match schema["properties"].get(name) {
            Some(property) => check(document, property, child, &format!("{at}/{name}"), result),
            None if schema["additionalProperties"] == false => result.push(format!("{at}: {name} is not allowed")),
            None => {}
        }
    }
}

fn has_type(value: &Value, name: &Value) -> bool {
    match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("unknown type {other}"),
    }
}

#[test]
fn violations_are_detected() {
    let schema = serde_json::json!({
        "type": "object",
        "required": ["a"],
        "additionalProperties": false,
        "properties": { "a": { "type": ["string", "null"] }, "b": { "type": "integer", "minimum": 1 } },
    });
    let count = |value| violations(&Value::Null, &schema, &value).len();
    assert_eq!(count(serde_json::json!({ "a": null, "b": 1 })), 0);
    assert_eq!(count(serde_json::json!({ "b": 0, "c": true })), 3);
    assert_eq!(count(serde_json::json!([])), 1);
}

//! Schemas of `error.details`, derived from the details of all possible failures: one for each code, and one for each
//! reason that has its own properties.

use std::cmp::Reverse;

use serde_json::{Map, Value, json};

use crate::documents::examples;
use crate::documents::schemas::PREFIX;
use crate::error::ErrorCode;

/// Properties whose values are words of a fixed list.
const WORDS: [&str; 2] = ["parameter", "reason"];

/// Name of the schema of details that a later version adds.
const OTHER: &str = "OtherDetails";

/// All details of one code with the same properties.
type Shape<'e> = (ErrorCode, Vec<&'e Map<String, Value>>);

/// Adds the schemas to `components`, and returns the alternatives for `error.details`. The last one is open.
pub(super) fn add_to(components: &mut Map<String, Value>) -> Value {
    let failures = examples::all_failures();
    let mut shapes: Vec<Shape<'_>> = Vec::new();
    for example in &failures {
        let (Some(code), Some(Value::Object(details))) = (example.code, example.details()) else { continue };
        match shapes.iter_mut().find(|(known, same)| *known == code && same[0].keys().eq(details.keys())) {
            Some((_, same)) => same.push(details),
            None => shapes.push((code, vec![details])),
        }
    }
    // Clients take the first alternative that fits, even if the details have more properties.
    shapes.sort_by_key(|(_, details)| Reverse(details[0].len()));
    let mut schemas: Vec<_> = shapes.iter().map(|shape| (name(shape), schema(shape))).collect();
    let other = json!({ "type": "object", "description": "Further details.", "additionalProperties": true });
    schemas.push((OTHER.to_owned(), other));
    let branches = schemas.iter().map(|(name, _)| json!({ "$ref": format!("{PREFIX}{name}") })).collect();
    components.extend(schemas);
    branches
}

/// Returns the name of a schema: that of its only reason, otherwise that of its code.
fn name((code, details): &Shape<'_>) -> String {
    let reason = details[0].get("reason").and_then(Value::as_str).filter(|_| details.len() == 1);
    let words = reason.unwrap_or(code.as_str()).split('_');
    words.map(|word| word[..1].to_uppercase() + &word[1..]).chain(["Details".to_owned()]).collect()
}

fn schema((code, details): &Shape<'_>) -> Value {
    let property = |name: &String| (name.clone(), property(name, details));
    json!({
        "type": "object",
        "description": format!("Details of `{}`.", code.as_str()),
        "properties": details[0].keys().map(property).collect::<Map<_, _>>(),
        "required": details[0].keys().collect::<Vec<_>>(),
        "additionalProperties": false,
    })
}

fn property(name: &str, details: &[&Map<String, Value>]) -> Value {
    match &details[0][name] {
        Value::Number(_) => json!({ "type": "integer" }),
        Value::Array(_) => json!({ "type": "array", "items": { "type": "string" } }),
        _ if WORDS.contains(&name) => {
            let mut words: Vec<&Value> = details.iter().map(|details| &details[name]).collect();
            words.sort_by_key(|word| word.as_str());
            words.dedup();
            json!({ "type": "string", "enum": words })
        }
        _ => json!({ "type": "string" }),
    }
}

//! The operations of the OpenAPI document.

use serde_json::{Value, json};

use super::BEARER;
use crate::operation::{Parameter, Spec};

/// Header with which every operation can be called.
const CONDITIONAL: &str = "If-None-Match";

/// Describes the operation of `spec`, with its responses.
pub(super) fn describe(spec: &Spec, responses: Value) -> Value {
    let scopes: Vec<&str> = spec.scope.iter().map(crate::model::Scope::name).collect();
    let mut operation = json!({
        "operationId": spec.id,
        "tags": [spec.tag.name],
        "summary": spec.summary,
        "description": format!("{}\n\nScope required: {}.", spec.description, required_scope(spec)),
        // Only OAuth 2 schemes list scopes here; for others, `x-required-scopes` does.
        "security": [{ BEARER: [] }],
        "x-required-scopes": scopes,
    });
    let conditional = json!({ "$ref": format!("#/components/parameters/{CONDITIONAL}") });
    let parameters = spec.parameters.iter().map(|parameter| describe_parameter(*parameter));
    operation["parameters"] = parameters.chain([conditional]).collect();
    operation["responses"] = responses;
    operation
}

/// Describes the parameters that all operations share.
pub(super) fn shared_parameters() -> Value {
    json!({ CONDITIONAL: {
        "name": CONDITIONAL,
        "in": "header",
        "required": false,
        "description": "`ETag` of an earlier response to the same request: if it is still current, the response has no body.",
        "schema": { "type": "string" },
    }})
}

pub(in crate::documents) fn required_scope(spec: &Spec) -> String {
    match &spec.scope {
        Some(scope) => format!("`{scope}`"),
        None => "none".to_owned(),
    }
}

fn describe_parameter(parameter: Parameter) -> Value {
    let mut described = json!({
        "name": parameter.name(),
        "in": if parameter.is_in_path() { "path" } else { "query" },
        "required": parameter.is_in_path(),
        "description": parameter.description(),
        "schema": parameter.schema(),
    });
    if let Some(example) = parameter.example() {
        described["example"] = example;
    }
    described
}

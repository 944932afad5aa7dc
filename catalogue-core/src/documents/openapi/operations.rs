//! The operations of the OpenAPI document.

use serde_json::{Value, json};

use super::BEARER;
use crate::operation::{Parameter, Row};

/// Describes the operation of `row`, with its responses.
pub(super) fn describe(row: &Row, responses: Value) -> Value {
    let scopes: Vec<&str> = row.scope.iter().map(crate::model::Scope::name).collect();
    let mut operation = json!({
        "operationId": row.id,
        "tags": [row.tag.name],
        "summary": row.summary,
        "description": format!("{}\n\nScope required: {}.", row.description, required_scope(row)),
        // Only schemes with flows list scopes in the requirement itself.
        "security": [{ BEARER: [] }],
        "x-required-scopes": scopes,
    });
    if !row.parameters.is_empty() {
        operation["parameters"] = row.parameters.iter().map(|parameter| describe_parameter(*parameter)).collect();
    }
    operation["responses"] = responses;
    operation
}

pub(in crate::documents) fn required_scope(row: &Row) -> String {
    match &row.scope {
        Some(scope) => format!("`{scope}`"),
        None => "none beyond a valid credential".to_owned(),
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

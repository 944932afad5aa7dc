//! The section on endpoints: the scope, parameters, samples, example response, fields and statuses of each.

use http::StatusCode;
use serde_json::Value;

use super::block::{Block, code};
use super::samples;
use crate::documents::about::Site;
use crate::documents::examples;
use crate::documents::openapi::required_scope;
use crate::documents::schemas::{Schemas, name_of, property_names};
use crate::operation::{Operation, Parameter};

pub(super) fn all(site: Site<'_>, schemas: &Schemas, origin: &str) -> Vec<Block> {
    let mut blocks = vec![Block::heading(2, "Endpoints"), Block::KeyField];
    blocks.extend(Operation::ALL.iter().flat_map(|&operation| endpoint(operation, site, schemas, origin)));
    blocks
}

fn endpoint(operation: Operation, site: Site<'_>, schemas: &Schemas, origin: &str) -> Vec<Block> {
    let spec = operation.spec();
    let call = format!("GET {}", spec.path);
    let mut blocks = vec![
        Block::Heading(3, call.clone()),
        Block::Text(spec.description.to_owned()),
        Block::List(vec![format!("Scope: {}", required_scope(spec)), format!("Operation: {}", code(spec.id))]),
    ];
    if !spec.parameters.is_empty() {
        let row = |&parameter: &Parameter| vec![code(parameter.name()), type_of(&parameter.schema()), rules(parameter)];
        let rows = spec.parameters.iter().map(row).collect();
        blocks.push(Block::heading(4, "Parameters"));
        blocks.push(Block::Table { head: &["Name", "Type", "Rule"], rows, ids: Vec::new() });
    }
    blocks.push(Block::Samples(call, samples::all(spec, site, origin)));
    blocks.push(Block::TryIt(operation));
    blocks.push(Block::heading(4, "Responses"));
    let example = examples::success(spec, site).body.map(|body| format!("{body:#}")).unwrap_or_default();
    blocks.push(Block::Example(operation, example));
    // The first object is the envelope, which is the same everywhere.
    let objects = schemas.objects_in(schemas.response(operation)).into_iter().skip(1);
    let fields = objects
        .flat_map(|(name, object)| [Block::Text(format!("Fields of {}:", code(name))), fields(object)])
        .collect();
    let mut statuses = examples::by_status(spec, site);
    // The conventions describe the response to another method.
    statuses.retain(|examples| examples[0].status != StatusCode::METHOD_NOT_ALLOWED);
    blocks.push(Block::Responses(operation, fields, statuses));
    blocks
}

fn fields(object: &Value) -> Block {
    let row = |name: &str| {
        let schema = &object["properties"][name];
        vec![code(name), type_of(schema), schema["description"].as_str().unwrap_or_default().to_owned()]
    };
    Block::Table {
        head: &["Field", "Type", "Meaning"],
        rows: property_names(object).map(row).collect(),
        ids: Vec::new(),
    }
}

/// Returns a parameter's description and bounds.
pub(in crate::documents) fn rules(parameter: Parameter) -> String {
    let schema = parameter.schema();
    let range = |low, high, unit| Some(format!("{} to {}{unit}", schema.get(low)?, schema.get(high)?));
    let range = range("minimum", "maximum", "").or_else(|| range("minLength", "maxLength", " characters"));
    let default = schema.get("default").map(|default| format!(", default {default}"));
    format!(
        "{}: {}{}.",
        parameter.description().trim_end_matches('.'),
        range.unwrap_or_default(),
        default.unwrap_or_default()
    )
}

fn type_of(schema: &Value) -> String {
    if let Some(name) = name_of(schema) {
        return code(name);
    }
    match &schema["type"] {
        Value::String(kind) if kind == "array" => format!("array of {}", type_of(&schema["items"])),
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => "any".to_owned(),
    }
}

//! The section on endpoints: the scope, parameters, samples, example response, fields and statuses of each.

use serde_json::Value;

use super::block::{Block, code};
use super::samples;
use crate::documents::about::Site;
use crate::documents::examples;
use crate::documents::openapi::required_scope;
use crate::documents::schemas::{Schemas, name_of, property_names, required};
use crate::operation::{Operation, Parameter};

pub(super) fn all(site: Site<'_>, schemas: &Schemas, origin: &str) -> Vec<Block> {
    let mut blocks = vec![Block::heading(2, "Endpoints")];
    blocks.push(Block::KeyField);
    for &operation in Operation::ALL {
        blocks.extend(endpoint(operation, site, schemas, origin));
    }
    blocks
}

fn endpoint(operation: Operation, site: Site<'_>, schemas: &Schemas, origin: &str) -> Vec<Block> {
    let spec = operation.spec();
    let mut blocks = vec![
        Block::Heading(3, format!("GET {}", spec.path)),
        Block::text(spec.description),
        Block::List(vec![format!("Operation: {}", code(spec.id)), format!("Scope required: {}", required_scope(spec))]),
    ];
    if !spec.parameters.is_empty() {
        let rows = spec.parameters.iter().map(|&parameter| parameter_row(parameter)).collect();
        blocks.push(Block::heading(4, "Parameters"));
        let head = &["Name", "In", "Type", "Required", "Rules"];
        blocks.push(Block::Table { head, rows, ids: Vec::new() });
    }
    blocks.push(Block::Samples(operation, samples::all(spec, site, origin)));
    blocks.push(Block::TryIt(operation));
    blocks.push(Block::heading(4, "Response"));
    let example = examples::success(spec, site).body.map(|body| format!("{body:#}")).unwrap_or_default();
    blocks.push(Block::Example(operation, example));
    for (name, object) in schemas.objects_in(schemas.response(operation)) {
        blocks.push(Block::Text(format!("{}: {}", code(name), description(object))));
        blocks.push(fields(object));
    }
    blocks.push(Block::heading(4, "Statuses"));
    blocks.push(Block::Statuses(operation, examples::by_status(spec, site)));
    blocks
}

fn fields(object: &Value) -> Block {
    let required = required(object);
    let row = |name: &str| {
        let schema = &object["properties"][name];
        vec![code(name), type_of(schema), yes_no(required.contains(&name)), description(schema)]
    };
    let rows = property_names(object).map(row).collect();
    Block::Table { head: &["Field", "Type", "Required", "Notes"], rows, ids: Vec::new() }
}

fn parameter_row(parameter: Parameter) -> Vec<String> {
    let in_path = parameter.is_in_path();
    let location = if in_path { "path" } else { "query" };
    let schema = parameter.schema();
    vec![code(parameter.name()), location.to_owned(), type_of(&schema), yes_no(in_path), rules(parameter)]
}

/// Returns a parameter's description and bounds.
pub(in crate::documents) fn rules(parameter: Parameter) -> String {
    with_bounds(parameter.description(), parameter)
}

/// Appends the bounds of `parameter` to `description`.
pub(super) fn with_bounds(description: &str, parameter: Parameter) -> String {
    format!("{description} {}", bounds(&parameter.schema()))
}

fn bounds(schema: &Value) -> String {
    let text_of = |key: &str, words: &str| schema.get(key).map(|value| format!("{words} {value}"));
    let texts = [
        text_of("minimum", "minimum"),
        text_of("maximum", "maximum"),
        text_of("default", "default"),
        text_of("minLength", "characters: at least"),
        text_of("maxLength", "at most"),
    ];
    let mut text = texts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
        text.push('.');
    }
    text
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

fn description(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().to_owned()
}

fn yes_no(yes: bool) -> String {
    if yes { "yes" } else { "no" }.to_owned()
}

//! The endpoints: parameters, fields, answers and an example of each.

use serde_json::Value;

use super::block::{Block, code};
use crate::address::Address;
use crate::documents::answers::{self, Answer};
use crate::documents::openapi::required_scope;
use crate::documents::schemas::{Schemas, name_of, property_names, required};
use crate::documents::{STAND_IN_HOST, json};
use crate::error::ErrorCode;
use crate::operation::{Operation, Parameter, Row};

pub(in crate::documents) fn all(base: &Address, schemas: &Schemas) -> Vec<Block> {
    let mut blocks = vec![Block::heading(2, "Endpoints")];
    if base.as_str() == base.path() {
        blocks.push(Block::Text(format!(
            "In the examples `$SERVER` stands for the scheme and host of the server, such as `https://{STAND_IN_HOST}`, \
             and `$API_KEY` for your key.",
        )));
    } else {
        blocks.push(Block::text("In the examples `$API_KEY` stands for your key."));
    }
    blocks.push(Block::KeyField);
    for &operation in Operation::ALL {
        blocks.extend(endpoint(operation, base, schemas));
    }
    blocks
}

fn endpoint(operation: Operation, base: &Address, schemas: &Schemas) -> Vec<Block> {
    let row = operation.row();
    let success = answers::success(row, base);
    let mut blocks = vec![
        Block::Heading(3, format!("GET {}", row.path)),
        Block::text(row.description),
        Block::List(vec![format!("Operation: {}", code(row.id)), format!("Scope required: {}", required_scope(row))]),
    ];
    if !row.parameters.is_empty() {
        let rows = row.parameters.iter().map(|&parameter| parameter_row(parameter)).collect();
        blocks.push(Block::heading(4, "Parameters"));
        blocks.push(Block::Table { head: &["Name", "In", "Type", "Required", "Rules"], rows });
    }
    blocks.push(Block::heading(4, "Request"));
    blocks.push(Block::Code { language: "sh", text: curl(row, base) });
    blocks.push(Block::TryIt(operation));
    blocks.push(Block::heading(4, "Answer"));
    blocks.push(Block::Code {
        language: "json",
        text: success.body.as_ref().map(|body| json::pretty(body, schemas)).unwrap_or_default(),
    });
    for (name, object) in schemas.objects_in(schemas.answer(operation)) {
        blocks.push(Block::Text(format!("{}: {}", code(name), description(object))));
        blocks.push(fields(object));
    }
    blocks.push(Block::heading(4, "Statuses"));
    blocks.push(statuses(row, success));
    blocks
}

/// The properties of an object.
fn fields(object: &Value) -> Block {
    let required = required(object);
    let row = |name: &str| {
        let schema = &object["properties"][name];
        vec![code(name), type_of(schema), yes_no(required.contains(&name)), description(schema)]
    };
    let rows = property_names(object).into_iter().map(row).collect();
    Block::Table { head: &["Field", "Type", "Required", "Notes"], rows }
}

fn parameter_row(parameter: Parameter) -> Vec<String> {
    let place = if parameter.is_in_path() { "path" } else { "query" };
    let schema = parameter.schema();
    vec![code(parameter.name()), place.to_owned(), type_of(&schema), yes_no(parameter.is_in_path()), rules(parameter)]
}

/// What a parameter means, and its bounds.
pub(in crate::documents) fn rules(parameter: Parameter) -> String {
    with_bounds(parameter.description(), parameter)
}

/// A parameter's description, and its bounds.
pub(super) fn with_bounds(description: &str, parameter: Parameter) -> String {
    let bounds = bounds(&parameter.schema());
    let separator = if bounds.is_empty() { "" } else { " " };
    format!("{description}{separator}{bounds}")
}

fn bounds(schema: &Value) -> String {
    let say = |key: &str, words: &str| schema.get(key).map(|value| format!("{words} {value}"));
    let said = [
        say("minimum", "minimum"),
        say("maximum", "maximum"),
        say("default", "default"),
        say("minLength", "characters: at least"),
        say("maxLength", "at most"),
    ];
    let mut text = said.into_iter().flatten().collect::<Vec<_>>().join(", ");
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
        text.push('.');
    }
    text
}

/// A schema's type in words.
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

fn statuses(row: &Row, success: Answer) -> Block {
    let mut answers = vec![success, answers::not_modified()];
    answers.extend(answers::failures(row));
    answers.dedup_by_key(|answer| answer.status);
    let row = |answer: &Answer| {
        let name = answer.code.map_or_else(|| "none".to_owned(), |error: ErrorCode| code(error.as_str()));
        vec![answer.status.as_str().to_owned(), name, answer.meaning()]
    };
    Block::Table { head: &["Status", "Code", "When"], rows: answers.iter().map(row).collect() }
}

/// A command that asks for the example answer.
pub(in crate::documents) fn curl(row: &Row, base: &Address) -> String {
    let server = if base.as_str() == base.path() { "$SERVER" } else { "" };
    let mut path = row.path.to_owned();
    let mut query = String::new();
    // The first page needs no cursor.
    for parameter in row.parameters.iter().filter(|&&parameter| parameter != Parameter::Cursor) {
        let value = parameter.example();
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if parameter.is_in_path() {
            path = path.replace(&format!("{{{}}}", parameter.name()), &value);
        } else {
            let separator = if query.is_empty() { '?' } else { '&' };
            query.push_str(&format!("{separator}{}={value}", parameter.name()));
        }
    }
    let base = in_double_quotes(base.as_str());
    format!(r#"curl -H "Authorization: Bearer $API_KEY" "{server}{base}{path}{query}""#)
}

/// `text` as it stands between double quotes of a shell.
fn in_double_quotes(text: &str) -> String {
    text.replace('\\', r"\\").replace('"', "\\\"").replace('$', r"\$").replace('`', r"\`")
}

//! The documents of section 4.4 and the reference page, through the public API.

mod about;
mod openapi;
mod openapi_30;
mod page;
mod texts;

use catalogue_core::storage::MemoryStorage;
use catalogue_core::{Catalogue, DocumentFormat};
use serde_json::Value;

const BASE: &str = "/api/v1";
const DOCS: &str = "/docs";

fn text(format: DocumentFormat) -> String {
    text_at(format, BASE, DOCS)
}

fn text_at(format: DocumentFormat, base: &str, docs: &str) -> String {
    catalogue(base, docs).document(format)
}

fn catalogue(base: &str, docs: &str) -> Catalogue {
    Catalogue::with_api_keys(MemoryStorage::new()).base_url(base).docs_url(docs).build().unwrap()
}

fn json(format: DocumentFormat) -> Value {
    serde_json::from_str(&text(format)).unwrap()
}

/// Visits every value in `root` with its path, `root` itself first.
fn walk<'v>(root: &'v Value, visit: &mut dyn FnMut(&str, &'v Value)) {
    fn go<'v>(at: &str, value: &'v Value, visit: &mut dyn FnMut(&str, &'v Value)) {
        visit(at, value);
        match value {
            Value::Object(object) => object.iter().for_each(|(key, child)| go(&format!("{at}/{key}"), child, visit)),
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(index, child)| go(&format!("{at}/{index}"), child, visit));
            }
            _ => {}
        }
    }
    go("", root, visit);
}

/// Returns the target of a local reference, or `value` itself.
fn resolve<'v>(document: &'v Value, value: &'v Value) -> &'v Value {
    match value.get("$ref").and_then(Value::as_str) {
        Some(reference) => {
            let pointer = reference.strip_prefix('#').expect("references are local");
            document.pointer(pointer).unwrap_or_else(|| panic!("{reference} refers to nothing"))
        }
        None => value,
    }
}

/// Returns the operation with `id`, and its path.
fn operation<'v>(document: &'v Value, id: &str) -> (&'v str, &'v Value) {
    let paths = document["paths"].as_object().unwrap();
    let mut found = paths.iter().filter(|(_, item)| item["get"]["operationId"] == id);
    let (path, item) = found.next().unwrap_or_else(|| panic!("no operation {id}"));
    (path, &item["get"])
}

//! The OpenAPI 3.1 document, out of the operation table and the serialised types.

mod operations;
mod responses;

use std::collections::BTreeMap;

use http::Uri;
use serde_json::{Map, Value, json};

use super::json::pretty;
use super::reference::{general, page_address};
use super::schemas::Schemas;
use super::{OPENAPI, STAND_IN_HOST, SUMMARY, TITLE, VERSION, headers, markdown, origin};
use crate::address::Address;
use crate::auth::Scope;
use crate::operation::{Operation, Tag};
pub(super) use operations::required_scope;
use responses::Responses;

/// How many examples a header has at most.
const EXAMPLES: usize = 3;
/// Where the licences are that the licence's name consists of.
const LICENSES: &str = "https://spdx.org/licenses/";
/// The name of the only security scheme.
const BEARER: &str = "bearer";

pub(super) fn render(base: &Address, docs: &Address) -> String {
    let schemas = Schemas::collect();
    pretty(&document(base, docs, &schemas), &schemas)
}

pub(super) fn document(base: &Address, docs: &Address, schemas: &Schemas) -> Value {
    let responses = Responses::collect(base, schemas);
    let path = |operation: Operation| {
        let described = operations::describe(operation.row(), &responses.of(operation));
        (operation.row().path.to_owned(), json!({ "get": described }))
    };
    json!({
        "openapi": OPENAPI,
        "info": {
            "title": TITLE,
            "version": VERSION,
            "summary": SUMMARY,
            "description": markdown::blocks(&general::all(base, schemas)),
            "contact": contact(base, docs),
            // A licence has an identifier or an address, and older readers know the address alone.
            "license": { "name": env!("CARGO_PKG_LICENSE"), "url": LICENSES },
        },
        "servers": [{ "url": server(base), "description": "The base address." }],
        "tags": Tag::ALL.map(|tag| json!({ "name": tag.name, "description": tag.description })),
        "security": [{ BEARER: [] }],
        "paths": Operation::ALL.iter().copied().map(path).collect::<Map<_, _>>(),
        "components": {
            "schemas": schemas.components,
            "responses": responses.shared(),
            "headers": describe_headers(&responses),
            "securitySchemes": { BEARER: security_scheme() },
        },
    })
}

/// Whom to ask: the page that explains the API, and the mailbox that RFC 2142 gives to the operator of a web server. Both
/// must be whole addresses.
fn contact(base: &Address, docs: &Address) -> Value {
    let stand_in = format!("https://{STAND_IN_HOST}");
    let server = [docs, base].map(origin).into_iter().find(|origin| !origin.is_empty()).unwrap_or(&stand_in);
    let page = page_address(docs);
    let page = if page.starts_with('/') { format!("{server}{page}") } else { page };
    let server: Option<Uri> = server.parse().ok();
    let host = server.as_ref().and_then(Uri::host).filter(|host| !host.starts_with('[')).unwrap_or(STAND_IN_HOST);
    json!({ "name": "The operator of this server", "url": page, "email": format!("webmaster@{host}") })
}

/// The address that paths are relative to.
fn server(base: &Address) -> &str {
    match base.as_str() {
        "" => "/",
        address => address,
    }
}

fn describe_headers(responses: &Responses) -> Map<String, Value> {
    let examples = header_examples(responses);
    let describe = |fact: headers::HeaderFact| {
        let examples = examples.get(fact.name).into_iter().flatten();
        let (kind, examples): (_, Vec<Value>) = if fact.is_number {
            ("integer", examples.filter_map(|text| serde_json::from_str(text).ok()).collect())
        } else {
            ("string", examples.map(|text| text.as_str().into()).collect())
        };
        let schema = json!({ "type": kind, "examples": examples });
        let header = json!({ "description": fact.description, "required": fact.always, "schema": schema });
        (fact.name.to_owned(), header)
    };
    headers::all().into_iter().map(describe).collect()
}

/// Values that each header has in the example answers, each once.
fn header_examples(responses: &Responses) -> BTreeMap<&'static str, Vec<String>> {
    let mut examples: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for (name, value) in responses.answers().flat_map(|answer| &answer.headers) {
        let values = examples.entry(*name).or_default();
        if values.len() < EXAMPLES && !values.contains(value) {
            values.push(value.clone());
        }
    }
    examples
}

fn security_scheme() -> Value {
    let scopes =
        Scope::DEFINED.iter().map(|(scope, grants)| format!("- `{scope}`: {grants}")).collect::<Vec<_>>().join("\n");
    json!({
        "type": "http",
        "scheme": "bearer",
        "description": format!("An API key or an OAuth token. It carries scopes:\n\n{scopes}"),
    })
}

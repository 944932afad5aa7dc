//! The OpenAPI 3.1 document, generated from the operation table and the serialized types.

mod details;
mod operations;
mod responses;

use serde_json::{Map, Value, json};

use super::about::Site;
use super::reference::guide;
use super::schemas::Schemas;
use super::{OPENAPI, SUMMARY, VERSION, headers, markdown};
use crate::model::Scope;
use crate::operation::{Operation, Tag};
pub(super) use operations::required_scope;

/// URL of the texts of the licenses that the license expression names.
const LICENSES: &str = "https://spdx.org/licenses/";
const BEARER: &str = "bearer";

pub(super) fn render(site: Site<'_>) -> String {
    format!("{:#}", document(site))
}

pub(super) fn document(site: Site<'_>) -> Value {
    let mut schemas = Schemas::collect();
    let details = details::add_to(&mut schemas.components);
    schemas.components["ErrorBody"]["properties"]["details"]["anyOf"] = details;
    let base = site.base.as_str();
    let mut shared = Map::new();
    let path = |&operation: &Operation| {
        let responses = responses::describe_all(operation, site, &schemas, &mut shared);
        (operation.path().to_owned(), json!({ "get": operations::describe(operation.spec(), responses) }))
    };
    let paths: Map<_, _> = Operation::ALL.iter().map(path).collect();
    let mut document = json!({
        "openapi": OPENAPI,
        "info": {
            "title": site.title(),
            "version": VERSION,
            "summary": SUMMARY,
            "description": markdown::blocks(&guide::rules(site)),
            // A license cannot have both an identifier and a URL, and older readers support only the URL.
            "license": { "name": env!("CARGO_PKG_LICENSE"), "url": LICENSES },
        },
        "servers": [{ "url": if base.is_empty() { "/" } else { base }, "description": "The base URL." }],
        "tags": Tag::ALL.map(|tag| json!({ "name": tag.name, "description": tag.description })),
        "security": [{ BEARER: [] }],
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "parameters": operations::shared_parameters(),
            "responses": shared,
            "headers": describe_headers(),
            "securitySchemes": { BEARER: security_scheme(site) },
        },
    });
    if let Some(contact) = site.contact() {
        document["info"]["contact"] = contact;
    }
    document
}

fn describe_headers() -> Map<String, Value> {
    let describe = |fact: headers::HeaderFact| {
        let kind = if fact.is_number { "integer" } else { "string" };
        let schema = json!({ "type": kind });
        let header = json!({ "description": fact.description, "required": fact.always, "schema": schema });
        (fact.name.to_owned(), header)
    };
    headers::all().into_iter().map(describe).collect()
}

fn security_scheme(site: Site<'_>) -> Value {
    let scopes =
        Scope::DEFINED.iter().map(|(scope, grants)| format!("- `{scope}`: {grants}")).collect::<Vec<_>>().join("\n");
    json!({
        "type": "http",
        "scheme": "bearer",
        "description": format!("An API key or an OAuth token.{} It has scopes:\n\n{scopes}", site.issuers()),
    })
}

//! `GET /openapi.json`: the OpenAPI document for callers with a token (section 4.4).

use schemars::json_schema;
use serde_json::json;

use super::body::Reply;
use super::document::{OPENAPI, TITLE, VERSION};
use super::{Spec, Tag};

pub(super) static SPEC: Spec = Spec {
    id: "getOpenApi",
    path: "/openapi.json",
    summary: "Read the OpenAPI document",
    description: "Returns the OpenAPI document of this API, without the envelope.",
    scope: None,
    parameters: &[],
    may_be_absent: false,
    tag: Tag::DESCRIPTION,
    schema: |_| json_schema!({ "type": "object", "description": "An OpenAPI document." }),
    example: || Reply { body: sketch().into(), next: None, revision: None },
};

/// Returns the beginning of the document; the whole document would contain itself as an example.
fn sketch() -> String {
    json!({ "openapi": OPENAPI, "info": { "title": TITLE, "version": VERSION }, "paths": {} }).to_string()
}

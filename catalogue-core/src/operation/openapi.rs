//! `GET /openapi.json`: the OpenAPI document behind a token (section 4.4).

use schemars::json_schema;

use super::{Operation, Reply, Row, Tag};

pub(super) const ROW: Row = Row {
    operation: Operation::GetOpenApi,
    id: "getOpenApi",
    path: "/openapi.json",
    summary: "Read the OpenAPI document",
    description: "The OpenAPI document of this API, bare, without the envelope. It is also public below the address \
                  of the documents.",
    scope: None,
    parameters: &[],
    may_be_absent: false,
    tag: Tag::Description,
    schema: |_| json_schema!({ "type": "object", "description": "An OpenAPI document." }),
    example: || Reply::OpenApi,
};

//! The responses of the OpenAPI document. Responses that operations share are listed once, under a name.

use serde_json::{Map, Value, json};

use crate::documents::about::Site;
use crate::documents::examples::{self, ExampleResponse};
use crate::documents::schemas::Schemas;
use crate::operation::Operation;

/// Describes the responses of one operation by status. Except for successes, operations share the response to a status:
/// it is added to `shared` under the name of the status.
pub(super) fn describe_all(
    operation: Operation,
    site: Site<'_>,
    schemas: &Schemas,
    shared: &mut Map<String, Value>,
) -> Value {
    let respond = |examples: &Vec<ExampleResponse>| {
        let status = examples[0].status;
        let schema = if examples[0].code.is_some() { &schemas.failure } else { schemas.response(operation) };
        let mut response = describe(examples, schema);
        if !status.is_success() {
            let name = status.canonical_reason().expect("an HTTP status").replace(' ', "");
            let reference = json!({ "$ref": format!("#/components/responses/{name}") });
            let known = shared.entry(name).or_insert_with(|| response.clone());
            debug_assert_eq!(*known, response, "{status}");
            response = reference;
        }
        (status.as_str().to_owned(), response)
    };
    examples::by_status(operation.spec(), site).iter().map(respond).collect()
}

/// Describes one response from the examples with its status.
fn describe(examples: &[ExampleResponse], schema: &Value) -> Value {
    let first = &examples[0];
    let code = first.code.map(|code| format!("`{}`: ", code.as_str())).unwrap_or_default();
    let headers = first.headers.iter();
    let mut response = json!({
        "description": format!("{code}{}", first.meaning()),
        "headers": headers
            .map(|(name, _)| ((*name).to_owned(), json!({ "$ref": format!("#/components/headers/{name}") })))
            .collect::<Map<_, _>>(),
    });
    let examples: Vec<&ExampleResponse> = examples.iter().filter(|example| example.body.is_some()).collect();
    if !examples.is_empty() {
        let examples = examples.into_iter().map(|example| (example.name(), json!({ "value": example.body })));
        let content = json!({ "schema": schema, "examples": examples.collect::<Map<_, _>>() });
        response["content"] = json!({ "application/json": content });
    }
    response
}

//! The check of a response against the document.

use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, VARY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderName, HeaderValue, Method, Uri};
use jsonschema::Validator;
use serde_json::Value;

use super::document::{DOCUMENT, Document, Header, Response};
use crate::app::TestResponse;

/// Asserts that the document describes `response`, from a catalogue whose base URL has the path `base`.
#[track_caller]
pub(crate) fn assert_fits(base: &str, method: &Method, target: &Uri, response: &TestResponse) {
    let result = differences(&DOCUMENT, base, method, target.path(), response);
    assert!(
        result.is_empty(),
        "the response to {method} {target} differs from the document:\n{result:#?}\n{response:?}"
    );
}

/// Returns the differences between a response and its description in the document.
pub(super) fn differences(
    document: &Document,
    base: &str,
    method: &Method,
    path: &str,
    response: &TestResponse,
) -> Vec<String> {
    let mut result = Vec::new();
    let is_bodiless = method == Method::HEAD;
    let operation = path.strip_prefix(base.trim_end_matches('/')).and_then(|path| document.at(path));
    let is_failure = response.status.is_client_error() || response.status.is_server_error();
    match operation.map(|operation| (operation, operation.responses.get(&response.status.as_u16()))) {
        // The document does not describe OPTIONS.
        _ if method == Method::OPTIONS && response.status.is_success() => {}
        Some((operation, None)) => result.push(format!("{} does not list {}", operation.id, response.status)),
        Some((_, Some(documented))) => {
            check_headers(documented, response, &mut result);
            check_content(documented, response, is_bodiless, &mut result);
        }
        // On undocumented paths, the document promises only the envelope of failures.
        None if is_failure && !is_bodiless => check_body(&document.failure, &response.body, &mut result),
        None => {}
    }
    result
}

/// Returns `true` for headers that the document does not list: framing and coding of the body,
/// `X-Content-Type-Options`, and CORS with its `Vary: Origin`.
fn is_general(name: &HeaderName, value: &HeaderValue) -> bool {
    [CONTENT_TYPE, CONTENT_LENGTH, CONTENT_ENCODING, X_CONTENT_TYPE_OPTIONS].contains(name)
        || name.as_str().starts_with("access-control-")
        || (name == VARY && value == "Origin")
}

fn check_headers(documented: &Response, response: &TestResponse, result: &mut Vec<String>) {
    for header in &documented.headers {
        let values = response.headers.get_all(&header.name).iter();
        let values: Vec<_> = values.filter(|value| !is_general(&header.name, value)).collect();
        match values[..] {
            [] if header.is_required => result.push(format!("{} is missing", header.name)),
            [] => {}
            [value] => check_value(header, value, result),
            _ => result.push(format!("{} occurs {} times", header.name, values.len())),
        }
    }
    for (name, value) in &response.headers {
        if !is_general(name, value) && documented.headers.iter().all(|header| header.name != name) {
            result.push(format!("{name} is not listed"));
        }
    }
}

fn check_value(header: &Header, value: &HeaderValue, result: &mut Vec<String>) {
    let text = value.to_str().unwrap();
    let value = if header.is_number { text.parse::<i64>().map_or(text.into(), Value::from) } else { text.into() };
    result.extend(header.schema.iter_errors(&value).map(|error| format!("{}: {error}", header.name)));
}

fn check_content(documented: &Response, response: &TestResponse, is_bodiless: bool, result: &mut Vec<String>) {
    let sent = response.headers.get(CONTENT_TYPE).map(|value| value.to_str().unwrap());
    let listed = documented.content.as_ref().map(|(media_type, _)| media_type.as_str());
    if sent != listed {
        result.push(format!("the media type is {sent:?} and not {listed:?}"));
    }
    match &documented.content {
        Some((_, schema)) if !is_bodiless => check_body(schema, &response.decoded(), result),
        _ if response.body.is_empty() => {}
        _ => result.push("there is a body".to_owned()),
    }
}

fn check_body(schema: &Validator, body: &[u8], result: &mut Vec<String>) {
    match serde_json::from_slice(body) {
        Ok(body) => {
            result.extend(schema.iter_errors(&body).map(|error| format!("body{}: {error}", error.instance_path())));
        }
        Err(error) => result.push(format!("the body is not JSON: {error}")),
    }
}

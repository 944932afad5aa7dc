//! Holds one answer against the document.

use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, VARY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderName, HeaderValue, Method, Uri};
use jsonschema::Validator;
use serde_json::Value;

use super::document::{DOCUMENT, Document, Header, Response};
use crate::app::Answer;

/// Asserts that the document describes this answer of a catalogue whose base address has that path.
#[track_caller]
pub(crate) fn assert_fits(base: &str, method: &Method, target: &Uri, answer: &Answer) {
    let found = faults(&DOCUMENT, base, method, target.path(), answer);
    assert!(
        found.is_empty(),
        "{method} {target} is answered otherwise than the document says:\n{found:#?}\n{answer:?}"
    );
}

/// Where an answer differs from the document; nowhere where the document speaks of no such answer.
pub(super) fn faults(document: &Document, base: &str, method: &Method, path: &str, answer: &Answer) -> Vec<String> {
    let mut found = Vec::new();
    let is_bodiless = method == Method::HEAD;
    let operation = path.strip_prefix(base.trim_end_matches('/')).and_then(|path| document.at(path));
    let is_failure = answer.status.is_client_error() || answer.status.is_server_error();
    match operation.map(|operation| (operation, operation.responses.get(&answer.status.as_u16()))) {
        // The document leaves OPTIONS to HTTP.
        _ if method == Method::OPTIONS && answer.status.is_success() => {}
        Some((operation, None)) => found.push(format!("{} does not list {}", operation.id, answer.status)),
        Some((_, Some(response))) => {
            header_faults(response, answer, &mut found);
            content_faults(response, answer, is_bodiless, &mut found);
        }
        // Elsewhere it is the envelope alone that is promised.
        None if is_failure && !is_bodiless => body_faults(&document.failure, &answer.body, &mut found),
        None => {}
    }
    found
}

/// Fields that belong to HTTP itself and not to this API: those that frame and code the body, the one that forbids browsers to
/// guess, and the CORS protocol with its `Vary: Origin`.
fn is_general(name: &HeaderName, value: &HeaderValue) -> bool {
    [CONTENT_TYPE, CONTENT_LENGTH, CONTENT_ENCODING, X_CONTENT_TYPE_OPTIONS].contains(name)
        || name.as_str().starts_with("access-control-")
        || (name == VARY && value == "Origin")
}

fn header_faults(response: &Response, answer: &Answer, found: &mut Vec<String>) {
    for header in &response.headers {
        let values = answer.headers.get_all(&header.name).iter();
        let values: Vec<_> = values.filter(|value| !is_general(&header.name, value)).collect();
        match values[..] {
            [] if header.is_required => found.push(format!("{} is missing", header.name)),
            [] => {}
            [value] => value_faults(header, value, found),
            _ => found.push(format!("{} came {} times", header.name, values.len())),
        }
    }
    for (name, value) in &answer.headers {
        if !is_general(name, value) && response.headers.iter().all(|header| header.name != name) {
            found.push(format!("{name} is not listed"));
        }
    }
}

fn value_faults(header: &Header, value: &HeaderValue, found: &mut Vec<String>) {
    let text = value.to_str().unwrap();
    let value = if header.is_number { text.parse::<i64>().map_or(text.into(), Value::from) } else { text.into() };
    found.extend(header.schema.iter_errors(&value).map(|error| format!("{}: {error}", header.name)));
}

fn content_faults(response: &Response, answer: &Answer, is_bodiless: bool, found: &mut Vec<String>) {
    let sent = answer.headers.get(CONTENT_TYPE).map(|value| value.to_str().unwrap());
    let listed = response.content.as_ref().map(|(media_type, _)| media_type.as_str());
    if sent != listed {
        found.push(format!("the media type is {sent:?} and not {listed:?}"));
    }
    match &response.content {
        Some((_, schema)) if !is_bodiless => body_faults(schema, &answer.decoded(), found),
        _ if answer.body.is_empty() => {}
        _ => found.push("there is a body".to_owned()),
    }
}

fn body_faults(schema: &Validator, body: &[u8], found: &mut Vec<String>) {
    match serde_json::from_slice(body) {
        Ok(body) => {
            found.extend(schema.iter_errors(&body).map(|error| format!("body{}: {error}", error.instance_path())));
        }
        Err(error) => found.push(format!("the body is no JSON: {error}")),
    }
}

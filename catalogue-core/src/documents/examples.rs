//! Example responses of each operation, created by the code that serves requests.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use serde_json::Value;

use super::about::Site;
use super::headers;
use crate::auth::Refusal;
use crate::error::{ApiError, ErrorCode, InvalidParameter};
use crate::limit;
use crate::model::Scope;
use crate::operation::{Operation, Spec};
use crate::response::entity::Entity;
use crate::response::envelope;

const REQUEST_ID: &str = "5f0c2b7a9d3e4c61";

/// Example response of an operation.
#[derive(Clone, Debug)]
pub(super) struct ExampleResponse {
    pub(super) status: StatusCode,
    /// Error code, if it is a failure.
    pub(super) code: Option<ErrorCode>,
    /// Headers that the documents describe, with their usual spelling.
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Option<Value>,
}

impl ExampleResponse {
    fn new(code: Option<ErrorCode>, response: &Response<Bytes>) -> Self {
        let text = |value: &HeaderValue| value.to_str().expect("examples are visible ASCII").to_owned();
        let mut headers: Vec<_> = headers::all()
            .iter()
            .filter_map(|fact| Some((fact.name, text(response.headers().get(fact.name)?))))
            .collect();
        headers.push(("X-Request-Id", REQUEST_ID.to_owned()));
        Self { status: response.status(), code, headers, body: serde_json::from_slice(response.body()).ok() }
    }

    fn failure(error: &ApiError) -> Self {
        Self::new(Some(error.code()), &envelope::failure(error, REQUEST_ID))
    }

    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }

    pub(super) fn details(&self) -> Option<&Value> {
        self.body.as_ref()?.get("error")?.get("details")
    }

    /// Returns a name that distinguishes this example from others with the same status.
    pub(super) fn name(&self) -> String {
        let detail = |name| self.details().and_then(|details| details.get(name)?.as_str());
        match (detail("parameter"), detail("reason")) {
            (Some(parameter), Some(reason)) => format!("{parameter}_{reason}"),
            (None, Some(reason)) => reason.to_owned(),
            _ => self.code.map_or("response", ErrorCode::as_str).to_owned(),
        }
    }

    /// Returns a sentence on when the API responds like this.
    pub(super) fn meaning(&self) -> String {
        let further = match self.code {
            Some(ErrorCode::InsufficientScope) => ", or of a kind that this deployment does not accept",
            Some(ErrorCode::RateLimited) => ", or the server is overloaded",
            _ => "",
        };
        match self.code {
            Some(_) if self.status == StatusCode::METHOD_NOT_ALLOWED => {
                "A method that `Allow` does not list.".to_owned()
            }
            Some(code) => format!("{}{further}.", code.meaning().trim_end_matches('.')),
            None if self.status == StatusCode::NOT_MODIFIED => {
                "Unchanged since the `ETag` in `If-None-Match`.".to_owned()
            }
            None => "Success.".to_owned(),
        }
    }
}

/// Returns all example responses of the operation, grouped by status in ascending order.
pub(super) fn by_status(spec: &Spec, site: Site<'_>) -> Vec<Vec<ExampleResponse>> {
    let mut by_status: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for example in [success(spec, site), not_modified()].into_iter().chain(failures(spec)) {
        by_status.entry(example.status).or_default().push(example);
    }
    by_status.into_values().collect()
}

pub(super) fn success(spec: &Spec, site: Site<'_>) -> ExampleResponse {
    let entity = envelope::entity((spec.example)(), None, site.base);
    let mut response = envelope::success(&entity, &HeaderMap::new());
    limit::examples().0.insert_into(response.headers_mut());
    let mut example = ExampleResponse::new(None, &response);
    // An example that is an OpenAPI document has the title of the real one.
    if let Some(title) = example.body.as_mut().and_then(|body| body.pointer_mut("/info/title")) {
        *title = site.title().into();
    }
    example
}

/// Returns the response to a client that has the current entity.
fn not_modified() -> ExampleResponse {
    let any = HeaderMap::from_iter([(header::IF_NONE_MATCH, HeaderValue::from_static("*"))]);
    let entity = Entity::from_bytes("application/json", Bytes::new());
    ExampleResponse::new(None, &envelope::success(&entity, &any))
}

/// Returns every possible error of the operation, ordered by status.
pub(super) fn failures(spec: &Spec) -> Vec<ExampleResponse> {
    let mut errors = Vec::new();
    let invalid_parameters = InvalidParameter::ALL
        .into_iter()
        .filter(|invalid| spec.parameters.iter().any(|parameter| parameter.name() == invalid.parameter()));
    errors.extend(invalid_parameters.map(ApiError::InvalidParameter));
    errors.extend(Refusal::ALL.map(ApiError::unauthorized));
    if let Some(required) = spec.scope.clone() {
        let granted = [Scope::ReadProfile].into_iter().collect();
        errors.push(ApiError::InsufficientScope { required: required.clone(), granted });
        errors.push(ApiError::UnsupportedCredential { required });
    }
    if spec.may_be_absent {
        errors.push(ApiError::NotFound);
    }
    errors.extend([
        ApiError::MethodNotAllowed,
        ApiError::RateLimited(limit::examples().1),
        ApiError::Internal("an example".into()),
    ]);
    errors.iter().map(ExampleResponse::failure).collect()
}

/// Returns a response over the rate limit.
pub(super) fn limited() -> ExampleResponse {
    ExampleResponse::failure(&ApiError::RateLimited(limit::examples().1))
}

/// Returns every error of any operation, each once, in the order of the codes.
pub(super) fn all_failures() -> Vec<ExampleResponse> {
    let mut distinct: Vec<ExampleResponse> = Vec::new();
    for example in Operation::ALL.iter().flat_map(|operation| failures(operation.spec())) {
        if !distinct.iter().any(|known| known.name() == example.name() && known.status == example.status) {
            distinct.push(example);
        }
    }
    distinct.sort_by_key(|example| ErrorCode::ALL.iter().position(|&code| Some(code) == example.code));
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_examples_are_sorted_by_status() {
        for &operation in Operation::ALL {
            assert!(failures(operation.spec()).is_sorted_by_key(|example| example.status), "{}", operation.id());
        }
    }
}

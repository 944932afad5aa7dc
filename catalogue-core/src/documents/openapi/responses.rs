//! The responses of the OpenAPI document: what operations share stands once, under a name.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::documents::about::Site;
use crate::documents::answers::{self, Answer};
use crate::documents::schemas::Schemas;
use crate::operation::Operation;

/// The responses of every operation.
#[derive(Debug)]
pub(super) struct Responses {
    /// By operation, then by status.
    operations: Vec<BTreeMap<StatusCode, Value>>,
}

impl Responses {
    pub(super) fn collect(site: Site<'_>, schemas: &Schemas) -> Self {
        let of_operation = |operation: Operation| {
            let row = operation.row();
            let mut by_status: BTreeMap<_, Vec<_>> = BTreeMap::new();
            let answers = [answers::success(row, site), answers::not_modified()];
            for answer in answers.into_iter().chain(answers::failures(row)) {
                by_status.entry(answer.status).or_default().push(answer);
            }
            let described = |answers: Vec<Answer>| {
                let schema = if answers[0].code.is_some() { &schemas.failure } else { schemas.answer(operation) };
                describe(&answers, schema)
            };
            by_status.into_iter().map(|(status, answers)| (status, described(answers))).collect()
        };
        Self { operations: Operation::ALL.iter().copied().map(of_operation).collect() }
    }

    /// The responses of one operation.
    pub(super) fn of(&self, operation: Operation) -> Value {
        let respond = |(&status, response): (&StatusCode, &Value)| {
            let response = match self.shared_name(status) {
                Some(name) => json!({ "$ref": format!("#/components/responses/{name}") }),
                None => response.clone(),
            };
            (status.as_str().to_owned(), response)
        };
        self.operations[operation as usize].iter().map(respond).collect()
    }

    /// The responses that have a name.
    pub(super) fn shared(&self) -> Map<String, Value> {
        let all = self.operations.iter().flatten();
        all.filter_map(|(&status, response)| Some((self.shared_name(status)?, response.clone()))).collect()
    }

    /// The name of a response that is the same wherever its status is answered; none for a success.
    fn shared_name(&self, status: StatusCode) -> Option<String> {
        let mut responses = self.operations.iter().filter_map(|by_status| by_status.get(&status));
        let first = responses.next()?;
        if status.is_success() || !responses.all(|other| other == first) {
            return None;
        }
        Some(status.canonical_reason()?.replace(' ', ""))
    }
}

/// One response out of the answers with its status.
fn describe(answers: &[Answer], schema: &Value) -> Value {
    let first = &answers[0];
    let code = first.code.map(|code| format!("`{}`: ", code.as_str())).unwrap_or_default();
    let headers = first.headers.iter();
    let mut response = json!({
        "description": format!("{code}{}", first.meaning()),
        "headers": headers
            .map(|(name, _)| ((*name).to_owned(), json!({ "$ref": format!("#/components/headers/{name}") })))
            .collect::<Map<_, _>>(),
    });
    let examples: Vec<&Answer> = answers.iter().filter(|answer| answer.body.is_some()).collect();
    if !examples.is_empty() {
        let examples = examples.into_iter().map(|answer| (answer.name(), json!({ "value": answer.body })));
        let content = json!({ "schema": schema, "examples": examples.collect::<Map<_, _>>() });
        response["content"] = json!({ "application/json": content });
    }
    response
}

//! Coverage of the document: real responses have exactly the operations, statuses, codes, headers and failures that it
//! describes.

use std::collections::BTreeSet;
use std::fmt::Debug;

use catalogue_core::ErrorCode;
use http::HeaderName;
use serde_json::Value;

use super::document::{DOCUMENT, Operation, Response};
use super::scenarios::exchanges;

/// Asserts that two sets are equal, and lists the elements that only one of them has.
#[track_caller]
fn assert_same<T: Ord + Debug>(described: &BTreeSet<T>, observed: &BTreeSet<T>) {
    let never: Vec<_> = described.difference(observed).collect();
    let unknown: Vec<_> = observed.difference(described).collect();
    assert!(
        never.is_empty() && unknown.is_empty(),
        "described and never observed: {never:#?}\nobserved and not described: {unknown:#?}"
    );
}

/// Returns every response of the document with its operation and status.
fn responses() -> impl Iterator<Item = (&'static Operation, u16, &'static Response)> {
    let of = |operation: &'static Operation| {
        operation.responses.iter().map(move |(status, response)| (operation, *status, response))
    };
    DOCUMENT.operations.iter().flat_map(of)
}

fn code(body: &Value) -> Option<String> {
    body.pointer("/error/code").map(|code| code.as_str().unwrap().to_owned())
}

#[tokio::test]
async fn statuses_and_codes_match_the_document() {
    let mut described = BTreeSet::new();
    for (operation, status, response) in responses() {
        assert_eq!(response.examples.is_empty(), response.content.is_none(), "{} {status}: no example", operation.id);
        let codes: Vec<_> = response.examples.iter().map(code).collect();
        let codes = if codes.is_empty() { vec![None] } else { codes };
        described.extend(codes.into_iter().map(|code| (operation.id.clone(), status, code)));
    }
    let exchanges = exchanges().await;
    let observed = exchanges.iter().map(|exchange| {
        let body: Option<Value> = serde_json::from_slice(&exchange.response.body).ok();
        (exchange.operation.id.clone(), exchange.response.status.as_u16(), body.as_ref().and_then(code))
    });
    let observed = observed.collect();
    assert_same(&described, &observed);

    let codes: BTreeSet<_> = observed.into_iter().filter_map(|(.., code)| code).collect();
    assert_same(&ErrorCode::ALL.iter().map(|code| code.as_str().to_owned()).collect(), &codes);
}

#[tokio::test]
async fn headers_match_the_document() {
    let described = responses().flat_map(|(operation, status, response)| {
        response.headers.iter().map(move |header| (operation.id.clone(), status, header.name.as_str().to_owned()))
    });
    let headers = responses().flat_map(|(.., response)| &response.headers);
    let names: BTreeSet<_> = headers.map(|header| header.name.as_str()).collect();
    let exchanges = exchanges().await;
    let observed = exchanges.iter().flat_map(|exchange| {
        let sent = exchange.response.headers.keys().map(HeaderName::as_str).filter(|name| names.contains(name));
        sent.map(|name| (exchange.operation.id.clone(), exchange.response.status.as_u16(), name.to_owned()))
    });
    assert_same(&described.collect(), &observed.collect());
}

/// Returns the code, the parameter and the reason of a failure.
fn kind(body: &Value) -> Option<[Option<String>; 3]> {
    let text = |pointer| body.pointer(pointer).map(|text: &Value| text.as_str().unwrap().to_owned());
    let kind = ["/error/code", "/error/details/parameter", "/error/details/reason"].map(text);
    kind[0].is_some().then_some(kind)
}

#[tokio::test]
async fn failures_match_the_documented_examples() {
    let described = responses().flat_map(|(operation, status, response)| {
        response.examples.iter().filter_map(move |example| Some((operation.id.clone(), status, kind(example)?)))
    });
    let exchanges = exchanges().await;
    let observed = exchanges.iter().filter_map(|exchange| {
        let body: Value = serde_json::from_slice(&exchange.response.body).ok()?;
        Some((exchange.operation.id.clone(), exchange.response.status.as_u16(), kind(&body)?))
    });
    assert_same(&described.collect(), &observed.collect());
}

#[tokio::test]
async fn examples_match_their_schemas() {
    for (operation, status, response) in responses() {
        for example in &response.examples {
            let (_, schema) = response.content.as_ref().unwrap();
            let errors: Vec<_> = schema.iter_errors(example).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{} {status}: {errors:?}", operation.id);
        }
    }
}

//! The OpenAPI document against real responses: each response that `app::send` returns fits the document, and
//! everything that the document describes occurs in a response.

mod check;
mod document;
mod document_coverage;
mod invalid_responses;
mod parameters;
mod scenarios;

pub(crate) use check::assert_fits;

//! The OpenAPI document against real responses: every response of these tests is checked against it, and everything
//! that it describes occurs in a response.

mod check;
mod document;
mod document_coverage;
mod invalid_responses;
mod parameters;
mod scenarios;

pub(crate) use check::assert_fits;

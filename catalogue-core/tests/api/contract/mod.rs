//! The OpenAPI document against what is really answered: every answer of these tests is held against it, and all that it
//! describes is really answered.

mod check;
mod document;
mod document_coverage;
mod invalid_responses;
mod parameters;
mod scenarios;

pub(crate) use check::assert_fits;

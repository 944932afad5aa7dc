//! Courses in views over another program's tables.

mod collations;
mod conformance;
mod freshness;
mod host_app;
mod invalid_rows;
mod opening;
mod plans;
mod serving;

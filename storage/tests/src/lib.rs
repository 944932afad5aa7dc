//! Fixtures and laws that the tests of several packages of the workspace share.

#![expect(clippy::missing_panics_doc, reason = "panicking is how a law fails")]

pub mod database;
pub mod freshness;
pub mod host_app;
pub mod intercept;
pub mod outcomes;
pub mod plain_sql;

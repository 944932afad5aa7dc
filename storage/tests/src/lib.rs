//! Fixtures and laws that the tests of several packages of the workspace share.

pub mod database;
pub mod freshness;
pub mod host_app;
pub mod intercept;
pub mod outcomes;
pub mod plain_sql;

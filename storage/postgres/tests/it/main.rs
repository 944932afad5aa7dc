//! The storage through its public API, and its database through plain SQL.
//!
//! If PostgreSQL is not installed, the tests log a line and pass, unless `CATALOGUE_TEST_REQUIRE` names `postgres`.

mod schema;

mod citus;
mod conformance;
mod failover;
mod failures;
mod last_uses;
mod lost_responses;
mod name_shadowing;
mod nul;
mod opening;
mod plain_sql;
mod plans;
mod relay;
mod replicas;
mod round_trips;
mod session_errors;
mod settings;
mod statements;
mod stress;
#[cfg(feature = "tls")]
mod tls;
mod unresponsive_host;
mod views;

use catalogue_storage_tests::database::{course, import_one_course, items, key_of};

mod laws {
    catalogue_storage_tests::laws!(crate::schema::Database);
}

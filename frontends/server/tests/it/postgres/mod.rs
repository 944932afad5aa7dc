//! The program on PostgreSQL: what differs from SQLite, and that exports and responses do not differ.
//! `on_each_database` runs the tests of commands.
//!
//! If PostgreSQL is not installed, the tests print a line and pass, unless `CATALOGUE_TEST_REQUIRE` names `postgres`.

mod addresses;
mod citus;
mod commands;
mod errors;
mod failover;
pub(crate) mod fixture;
mod lost_responses;
mod new_role;
mod observing;
mod same_as_sqlite;
mod waiting;

//! The program on PostgreSQL: the same commands and answers, another `--database`.
//!
//! Where PostgreSQL is not installed the tests say so in a line and pass, unless `CATALOGUE_TEST_REQUIRE` names `postgres`.

mod accounts;
mod addresses;
mod citus;
mod commands;
mod developer_settings;
mod doctor;
mod engines;
mod errors;
mod failover;
pub(crate) mod fixture;
mod key_care;
mod lost_responses;
mod new_role;
mod observing;
mod same_as_sqlite;
mod serving;
mod waiting;

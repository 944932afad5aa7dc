//! PostgreSQL storage for the course catalogue API: courses, credentials and their administration.
//!
//! ```no_run
//! use catalogue_core::Catalogue;
//! use catalogue_postgres::{Options, PostgresStorage};
//!
//! # async fn start() -> Result<(), Box<dyn std::error::Error>> {
//! let options = Options::parse("postgres://catalogue@db.example.com/catalogue")?;
//! let storage = PostgresStorage::open_and_migrate(&options).await?;
//! let catalogue = Catalogue::with_api_keys(storage).build()?;
//! # Ok(())
//! # }
//! ```
//!
//! It answers as the SQLite storage does, byte for byte. PostgreSQL has the character U+0000 in no text: titles, names and
//! bodies with it are stored with U+FFFE and a zero digit in its place (and U+FFFE, which is no character, as itself twice).
//!
//! Each read is one statement and one round trip, over a pool of read-only connections. A read that finds its connection closed
//! is asked once more over another. No call of the request path takes longer than [`Options::deadline`].
//!
//! The package's README says what failover, replicas, poolers and courses in another program's views promise.
//!
//! # Other writers
//! Triggers keep each account's revision, so a host may write to the tables with plain SQL. Without triggers
//! ([`Options::without_triggers`]), a host's writers must do in their transactions what these would: first replace
//! `accounts.revision` by a random UUID of their own (Citus lets no `UPDATE` call `gen_random_uuid()`), set
//! `courses.module_count`, and remove or move a course's modules and their contents along with it.
//!
//! Where [`Options::citus`] has spread the tables, a writer of `credentials` also writes `credential_accounts`, or the key is
//! unknown.
//!
//! The triggers change the tables of their own schema; where that is renamed, their functions need the new name:
//! `ALTER FUNCTION catalogue_courses_updated() SET search_path = …, pg_temp`, and so on.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod accounts;
mod address;
mod admin;
mod citus;
mod connection;
mod connections;
mod credentials;
mod engine;
mod error;
mod events;
mod export;
mod import;
mod keys;
mod migration;
mod open_error;
mod options;
mod place;
mod read;
mod revocations;
mod rows;
mod sign_ins;
mod storage;
mod text;
mod tls;
mod transaction;
mod versions;
mod views;
mod whole_course;
mod writes;

pub use migration::Migrated;
pub use open_error::OpenError;
pub use options::Options;
pub use storage::PostgresStorage;

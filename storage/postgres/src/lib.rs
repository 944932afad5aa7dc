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
//! Responses equal those of the SQLite storage, byte for byte. PostgreSQL text cannot contain U+0000: titles, names and bodies
//! store it as U+FFFE and a zero digit (and the noncharacter U+FFFE as two U+FFFE).
//!
//! Each read for a request is one statement and one round trip (on Citus, two for a credential or session) on a read-only
//! pooled connection. It is retried once if the connection is lost or a conflict cancels it. Its statements never exceed
//! [`Options::deadline`]. The package's README describes the guarantees for failover, replicas, poolers and views.
//!
//! # Other writers
//! Triggers maintain each account's revision, so a host application may write to the tables with plain SQL. Without triggers
//! ([`Options::without_triggers`]), its transactions must first replace `accounts.revision` with a random UUID. They must also
//! set `courses.module_count`, and remove or move modules and their contents together with the course. Generate the UUID in
//! the program: Citus does not allow `gen_random_uuid()` in an `UPDATE`.
//!
//! If [`Options::citus`] has distributed the tables, a writer of `credentials` must also write `credential_accounts`;
//! otherwise the key is unknown.
//!
//! The triggers find the tables by the schema's name. If the schema is renamed, set the new name for each trigger function:
//! `ALTER FUNCTION catalogue_courses_updated() SET search_path = NAME, pg_temp`.

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
mod read;
mod revocations;
mod rows;
mod schema;
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

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
//! Each read is one statement and one round trip, over a pool of read-only connections. Courses come together with the
//! credential that asks for them where that key was seen before, except with replicas, with Citus and with a rate limit. A read that finds its connection
//! closed is asked once more over another. No call of the request path takes longer than [`Options::deadline`].
//!
//! # Several servers
//! An address may name several hosts; the one that takes writes is read, also after a failover. Answers are then never
//! stale, and a revoked key is refused from the next request on.
//!
//! With [`Options::replica`] the request path reads from standbys, up to [`Options::greatest_lag`] behind: for that long a
//! committed change may be missing from an answer, and a revoked key may still be good. Two requests may be answered by two
//! standbys, so the later answer may be the older one, and a walk through the pages may leave out a course that was made
//! shortly before it began, or show one that was removed. What is expired is refused at once. A key or a course that a
//! standby does not have is looked for in the primary, so a new one is there at once.
//!
//! # Courses of another program
//! With [`Options::views`] courses are read from views over another program's tables, and keys are kept in a schema of ours
//! beside them. [`PostgresStorage::views`] then looks for rows that the API could not serve, for indexes that are missing and
//! for rights that the role does not need. What would change courses is refused as
//! [`Unsupported`](catalogue_core::storage::StorageErrorKind::Unsupported).
//!
//! # Other writers
//! Triggers keep each account's revision, so a host may write to the tables with plain SQL, also in a session with
//! `session_replication_role = replica`. Logical replication and `ALTER TABLE … DISABLE TRIGGER` go past them: replace
//! `accounts.revision` afterwards. Without triggers
//! ([`Options::without_triggers`]), a host's writers must do in their transactions what these would: first replace
//! `accounts.revision` by a random UUID of their own (Citus lets no `UPDATE` call `gen_random_uuid()`), set
//! `courses.module_count`, and remove or move a course's modules and their contents along with it.
//!
//! Where [`Options::citus`] has spread the tables, a writer of `credentials` also writes `credential_accounts`, or the key is
//! unknown.
//!
//! The triggers change the tables of their own schema; where that is renamed, their functions need the new name:
//! `ALTER FUNCTION catalogue_courses_updated() SET search_path = …, pg_temp`, and so on. A role that writes needs `UPDATE`
//! on `accounts` and `courses`, and `UPDATE` and `DELETE` on `modules` and `module_contents`.

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
mod old_snapshots;
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
pub use old_snapshots::OldSnapshot;
pub use open_error::OpenError;
pub use options::Options;
pub use storage::PostgresStorage;

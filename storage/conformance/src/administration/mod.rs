//! The cases of an [`AdminStorage`](catalogue_core::admin::AdminStorage).

pub mod accounts;
pub mod concurrent_writes;
pub mod credential_records;
pub mod credential_uses;
pub mod export;
pub mod import;
pub mod import_atomicity;
pub mod removal;
pub mod token_revocations;

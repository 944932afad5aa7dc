//! The cases of a storage that holds both courses and credentials.

pub mod courses_by_key;
pub mod credential_revision;

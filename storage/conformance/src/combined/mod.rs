//! The cases of a storage that holds both courses and credentials.

pub mod credential_revision;

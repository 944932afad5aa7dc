//! The cases of a [`CredentialStorage`](catalogue_core::storage::CredentialStorage).

pub mod look_up;
pub mod revocations;

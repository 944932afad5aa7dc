//! The cases of a [`CredentialStorage`](catalogue_core::storage::CredentialStorage).

pub mod lookup;
pub mod revocations;

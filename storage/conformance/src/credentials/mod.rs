//! The cases of a [`CredentialStorage`](catalogue_core::CredentialStorage).

pub mod look_up;

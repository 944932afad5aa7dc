//! The cases of a [`SignInStorage`](catalogue_core::storage::SignInStorage).

pub mod links;
pub mod sessions;
pub mod sign_in_events;

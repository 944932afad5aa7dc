//! The cases of a [`SignInStorage`](catalogue_core::storage::SignInStorage).

pub mod link_exchange;
pub mod links;
pub mod sessions;
pub mod sign_in_events;
pub mod sign_out;

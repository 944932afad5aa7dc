//! The cases of a [`KeyStorage`](catalogue_core::storage::KeyStorage).

pub mod key_changes;
pub mod key_creation;
pub mod key_events;
pub mod key_lists;
pub mod key_retention;
pub mod key_rotation;
pub mod keys_concurrency;

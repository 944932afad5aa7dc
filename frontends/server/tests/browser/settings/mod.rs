//! Developer settings, as owners use them.

pub(crate) mod gallery;
mod key_lifecycle;
mod owners;

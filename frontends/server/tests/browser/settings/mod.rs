//! Developer settings, as owners use them.

mod gallery;
mod host;
mod key_lifecycle;
mod looks;
mod owners;
mod policy;

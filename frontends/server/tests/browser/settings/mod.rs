//! The developer settings, as their owners use them.

mod gallery;
mod host;
mod looks;
mod owners;
mod policy;
mod walk;

//! The locks and caches that requests share. In unit tests they are those whose interleavings can be explored.

#[cfg(test)]
pub(crate) use catalogue_interleavings::{Cache, Mutex};
#[cfg(not(test))]
pub(crate) use {quick_cache::sync::Cache, std::sync::Mutex};

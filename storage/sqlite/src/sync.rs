//! The locks, atomics and caches that readers share. In unit tests they are those whose interleavings can be explored.

#[cfg(test)]
pub(crate) use catalogue_interleavings::{AtomicU64, Cache, Mutex, RwLock};
#[cfg(not(test))]
pub(crate) use {
    quick_cache::sync::Cache,
    std::sync::atomic::AtomicU64,
    std::sync::{Mutex, RwLock},
};

//! Locks, atomics and caches that readers share, and a monotonic clock. Unit tests use variants that are
//! model-checked with shuttle.

use std::sync::LazyLock;
use std::time::Instant;

#[cfg(test)]
pub(crate) use catalogue_interleavings::{AtomicU64, Cache, Mutex, RwLock};
#[cfg(not(test))]
pub(crate) use {
    quick_cache::sync::Cache,
    std::sync::atomic::AtomicU64,
    std::sync::{Mutex, RwLock},
};

/// Returns the nanoseconds since the first call in this process.
pub(crate) fn nanos() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);

    START.elapsed().as_nanos() as u64
}
